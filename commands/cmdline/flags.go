package cmdline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire/scan"
)

// Help lists flags under these headings. The heading for flags of a single dialect is the dialect's name.

const (
	GroupCommon     = "Common"
	GroupConnection = "Connection"
	GroupTime       = "Time"
	GroupOutput     = "Output"
	GroupExpect     = "Expectations"
	GroupHooks      = "Answering the peer"
	GroupParams     = "Parameters"
	GroupListen     = "Listening"
	GroupKept       = "Caching and recording"
	GroupDialect    = "Dialect"
	GroupScomp      = "scomp"
	GroupRO         = "ro"
	GroupHotRepl    = "hotrepl"
	GroupScriptling = "scriptling"
	GroupSession    = "Sessions"
	GroupRecord     = "Recording"
)

// A Flag describes one flag and stores its value.
type Flag struct {
	Name     string // without dashes
	Short    string // one letter, or ""
	Arg      string // the placeholder of its value: "FILE", "N", "auto|always|never", or "" without a value
	Usage    string // the help text without backquotes around Arg, and without a leading Arg and colon
	Group    string // its heading in help, or ""
	Repeated bool

	Needs    string   // the requirement on the endpoint, or ""
	With     string   // the flags, one of which is required, as "--a or --b"; or ""
	Dialects []string // the dialects that have the flag, or nil for all

	set    func(text string) error // parses and stores a value
	get    func() any
	lone   string // the value of the flag without a value, or "" if it needs one
	filled string // the kind of its value, for a flag that accepts no empty value
	given  bool   // Set was called
	wrong  error  // the last error of Set
}

// Filled makes f a flag that accepts no empty value: a script with an unset variable must not run without its expectation
// or its file. what is the kind of value. It returns f.
func (f *Flag) Filled(what string) *Flag {
	f.filled = what
	return f
}

// Choices returns the valid values, or nil if any value is valid.
func (f *Flag) Choices() []string {
	if !strings.Contains(f.Arg, "|") || f.Arg != strings.ToLower(f.Arg) {
		return nil
	}
	return strings.Split(f.Arg, "|")
}

// argTypes maps the placeholders of values to types. Other values are strings.
var argTypes = map[string]string{
	"N": "integer", "DURATION": "duration", "SIZE": "size", "FILE": "file", "DIR": "folder", "FILE|DIR": "file", "EXPR": "jq", "JQ": "jq", "JSON": "json",
}

// MarshalJSON returns the flag as `rpcx help --json` prints it.
func (f *Flag) MarshalJSON() ([]byte, error) {
	d := struct {
		Name     string   `json:"name"`            // --name
		Short    string   `json:"short,omitempty"` // -n
		Type     string   `json:"type"`            // bool, enum, string or one of argTypes
		Arg      string   `json:"arg,omitempty"`
		Values   []string `json:"values,omitempty"`
		Usage    string   `json:"usage"`
		Group    string   `json:"group,omitempty"`
		Repeated bool     `json:"repeated,omitempty"`
		Needs    string   `json:"needs,omitempty"`
		With     string   `json:"with,omitempty"`
	}{"--" + f.Name, "", cmp.Or(argTypes[f.Arg], "string"), f.Arg, f.Choices(), f.Usage, f.Group, f.Repeated, f.Needs, f.With}
	if f.Short != "" {
		d.Short = "-" + f.Short
	}
	switch {
	case f.Arg == "":
		d.Type = "bool"
	case d.Values != nil:
		d.Type = "enum"
	}
	return scan.Marshal(d)
}

// newFlag returns a flag. group is its heading in help. short is a one-letter name or "". The word in backquotes in
// usage is the placeholder of its value.
func newFlag(group, name, short, usage string, set func(text string) error, get func() any) *Flag {
	f := &Flag{Name: name, Short: short, Group: group, set: set, get: get}
	f.Arg, f.Usage = unquote(usage)
	return f
}

// unquote removes the backquotes in a usage text, and returns the word between the first two. It also removes a leading
// word with a colon.
func unquote(usage string) (arg, text string) {
	before, rest, ok := strings.Cut(usage, "`")
	if !ok {
		return "", usage
	}
	arg, after, ok := strings.Cut(rest, "`")
	if !ok {
		return "", usage
	}
	if own, ok := strings.CutPrefix(after, ": "); ok && before == "" {
		return arg, own
	}
	return arg, before + arg + after
}

// stored returns a flag whose value parse returns, and stores it in to.
func stored[T any](group, name, short, usage string, to *T, parse func(text string) (T, error)) *Flag {
	return newFlag(group, name, short, usage, func(text string) error {
		v, err := parse(text)
		if err == nil {
			*to = v
		}
		return err
	}, func() any { return *to })
}

// Bool returns a flag without a value, which it stores in to.
func Bool(group, name, short, usage string, to *bool) *Flag {
	f := stored(group, name, short, usage, to, func(text string) (bool, error) {
		on, err := strconv.ParseBool(text)
		if err != nil {
			err = fmt.Errorf("%q is neither true nor false", text)
		}
		return on, err
	})
	f.Arg, f.lone = "", "true"
	return f
}

// Counted returns a Bool flag that can be repeated, as in -vv. count is the number of repetitions.
func Counted(group, name, short, usage string, to *bool, count *int) *Flag {
	f := Bool(group, name, short, usage, to)
	set := f.set
	f.set = func(text string) error {
		*count++
		return set(text)
	}
	return f
}

// Text returns a flag for a string, which it stores in to.
func Text(group, name, short, usage string, to *string) *Flag {
	return stored(group, name, short, usage, to, func(text string) (string, error) { return text, nil })
}

// OptionalText returns a flag for a string that may be empty. to stays nil without the flag.
func OptionalText(group, name, usage string, to **string) *Flag {
	return stored(group, name, "", usage, to, func(text string) (*string, error) { return &text, nil })
}

// List returns a flag that can be repeated, and appends its values to to.
func List(group, name, short, usage string, to *[]string) *Flag {
	f := stored(group, name, short, usage, to, func(text string) ([]string, error) { return append(*to, text), nil })
	f.Repeated = true
	return f
}

// Parsed returns a flag whose value read parses immediately.
func Parsed(group, name, short, usage string, read func(text string) error) *Flag {
	return newFlag(group, name, short, usage, read, func() any { return nil })
}

// A Value parses the text of a flag, and returns its value.
type Value interface {
	Set(text string) error
	Get() any
}

// Generic returns a flag with its own value type, which it stores in to.
func Generic(group, name, usage string, to Value) *Flag {
	return newFlag(group, name, "", usage, to.Set, to.Get)
}

// Number returns a flag for a whole number that is not less than least, which it stores in to.
func Number(group, name, usage string, least int64, to *int64) *Flag {
	return stored(group, name, "", usage, to, func(text string) (int64, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < least {
			return 0, fmt.Errorf("%q is not a whole number of at least %d", text, least)
		}
		return n, nil
	})
}

// PositiveDuration returns a flag for a duration above zero.
func PositiveDuration(group, name, usage string, to *Duration) *Flag {
	return newFlag(group, name, "", usage, func(text string) error {
		if err := to.Set(text); err != nil {
			return err
		}
		if *to == unbounded {
			return fmt.Errorf("%q is not greater than zero", text)
		}
		return nil
	}, to.Get)
}

// Enum returns a flag whose value is one of words.
func Enum(group, name, usage string, to *string, words []string) *Flag {
	return stored(group, name, "", usage, to, func(text string) (string, error) {
		if !slices.Contains(words, text) {
			return "", fmt.Errorf("%q is not one of %s", text, strings.Join(words, ", "))
		}
		return text, nil
	})
}

// OptionalEnum returns a flag whose value is one of words. The first word is the value of the lone flag.
func OptionalEnum(group, name, usage string, to *string, words []string) *Flag {
	f := Enum(group, name, usage, to, words)
	f.Arg, f.lone = "", words[0]
	return f
}
