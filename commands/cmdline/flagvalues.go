package cmdline

import (
	"fmt"
	"slices"
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

// String returns "", because the usage text contains the default.
func (*Duration) String() string { return "" }

// Or returns the duration, or usual without the flag.
func (d Duration) Or(usual time.Duration) time.Duration {
	if d == 0 {
		return usual
	}
	return time.Duration(d)
}

// A positiveDuration is a Duration above zero.
type positiveDuration struct{ *Duration }

// Set parses text.
func (s positiveDuration) Set(text string) error {
	if err := s.Duration.Set(text); err != nil {
		return err
	}
	if *s.Duration == unbounded {
		return fmt.Errorf("%q is not greater than zero", text)
	}
	return nil
}

// A boundedInt is a whole number with a lower bound.
type boundedInt struct {
	to    *int64
	least int64
}

// Set parses text.
func (w boundedInt) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < w.least {
		return fmt.Errorf("%q is not a whole number of at least %d", text, w.least)
	}
	*w.to = n
	return nil
}

func (w boundedInt) Get() any { return *w.to }

// String returns "", because the usage text contains the default.
func (w boundedInt) String() string { return "" }

// An enum is a flag value that must be one of a few words.
type enum struct {
	to    *string
	words []string
}

// Set parses text.
func (c enum) Set(text string) error {
	if !slices.Contains(c.words, text) {
		return fmt.Errorf("%q is not one of %s", text, strings.Join(c.words, ", "))
	}
	*c.to = text
	return nil
}

func (c enum) Get() any { return *c.to }

func (c enum) String() string { return "" }

// An optionalEnum is an enum whose first word is the value of the lone flag.
type optionalEnum struct{ enum }

// LoneValue returns the value of a flag that the user gave without a value.
func (e optionalEnum) LoneValue() string { return e.words[0] }

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

// String returns "", because the usage text contains the default.
func (*Size) String() string { return "" }

// An optionalText is a string that may be missing.
type optionalText struct{ to **string }

// Set accepts any text.
func (g optionalText) Set(text string) error {
	*g.to = &text
	return nil
}

func (g optionalText) Get() any { return *g.to }

func (g optionalText) String() string { return "" }

type parsed struct{ read func(text string) error }

// Set parses text.
func (p parsed) Set(text string) error { return p.read(text) }

func (p parsed) Get() any { return nil }

func (p parsed) String() string { return "" }
