package commands

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A duration is a flag's value: "10s", "1m30s", or a bare number of seconds.
type duration time.Duration

func (d *duration) Set(text string) error {
	if n, err := strconv.ParseFloat(text, 64); err == nil && n >= 0 {
		*d = duration(n * float64(time.Second))
		return nil
	}
	v, err := time.ParseDuration(text)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is no duration: write 500ms, 10s or 2m", text)
	}
	*d = duration(v)
	return nil
}

func (d *duration) Get() any { return time.Duration(*d) }

func (d *duration) String() string {
	if d == nil || *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

// A size is a flag's value in bytes: "1000", "64K", "64MiB", "1G".
type size int

func (s *size) Set(text string) error {
	upper := strings.ToUpper(text)
	upper = strings.TrimSuffix(strings.TrimSuffix(upper, "B"), "I")
	shift := 0
	for i, unit := range []string{"K", "M", "G"} {
		if rest, ok := strings.CutSuffix(upper, unit); ok {
			upper, shift = rest, 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(upper, 10, 32)
	if err != nil || n < 1 || n<<shift>>shift != n {
		return fmt.Errorf("%q is no size: write 1000, 64K or 64M", text)
	}
	*s = size(n << shift)
	return nil
}

func (s *size) Get() any { return int(*s) }

func (s *size) String() string {
	if s == nil || *s == 0 {
		return ""
	}
	if *s%(1<<20) == 0 {
		return strconv.Itoa(int(*s)>>20) + "M"
	}
	return strconv.Itoa(int(*s))
}
