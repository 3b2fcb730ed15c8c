package cmdline

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Duration is the value of a flag: "10s", "1m30s", or a number of seconds. The zero Duration means that the flag is
// missing. A 0 from the user becomes unbounded.
type Duration time.Duration

const unbounded Duration = -1

// Set parses text.
func (d *Duration) Set(text string) error {
	v, err := time.ParseDuration(text)
	if err != nil {
		v, err = time.ParseDuration(text + "s")
	}
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a valid duration, such as 500ms, 10s or 2m", text)
	}
	*d = Duration(v)
	if v == 0 {
		*d = unbounded
	}
	return nil
}

func (d *Duration) Get() any { return time.Duration(*d) }

// Or returns the duration, or usual without the flag.
func (d Duration) Or(usual time.Duration) time.Duration { return cmp.Or(time.Duration(d), usual) }

// A Size is a flag value in bytes: "1000", "64K", "64MiB", "1G".
type Size int

// Set parses text.
func (s *Size) Set(text string) error {
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
		return fmt.Errorf("%q is not a size: write 1000, 64K or 64M", text)
	}
	*s = Size(n << shift)
	return nil
}

func (s *Size) Get() any { return int(*s) }
