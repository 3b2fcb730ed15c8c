package cmdline

import (
	"github.com/urfave/cli/v3"
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

// Bool returns a flag without a value, which it stores in to. group is the heading in help. short is a one-letter name
// or "".
func Bool(group, name, short, usage string, to *bool) Flag {
	f := &cli.BoolFlag{Name: name, Usage: usage, Category: group, Destination: to}
	if short != "" {
		f.Aliases = []string{short}
	}
	return f
}

// OptionalText returns a flag for a string that may be empty. to stays nil without the flag.
func OptionalText(group, name, usage string, to **string) Flag {
	return Generic(group, name, usage, optionalText{to})
}

// Counted returns a Bool flag that can be repeated, as in -vv. count is the number of repetitions.
func Counted(group, name, short, usage string, to *bool, count *int) Flag {
	f := Bool(group, name, short, usage, to).(*cli.BoolFlag)
	f.Config.Count = count
	return f
}

// Text returns a flag for a string, which it stores in to. group is the heading in help. short is a one-letter name or
// "".
func Text(group, name, short, usage string, to *string) Flag {
	f := &cli.StringFlag{Name: name, Usage: usage, Category: group, Destination: to}
	if short != "" {
		f.Aliases = []string{short}
	}
	return f
}

// List returns a flag that can be repeated, and appends its values to to. group is the heading in help. short is a
// one-letter name or "".
func List(group, name, short, usage string, to *[]string) Flag {
	f := &cli.StringSliceFlag{Name: name, Usage: usage, Category: group, Destination: to}
	if short != "" {
		f.Aliases = []string{short}
	}
	return f
}

// Generic returns a flag with its own value type, which it stores in to. group is the heading in help.
func Generic(group, name, usage string, to cli.Value) Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Category: group, Value: to}
}

// Parsed returns a flag whose value read parses immediately.
func Parsed(group, name, short, usage string, read func(text string) error) Flag {
	return &cli.GenericFlag{Name: name, Aliases: []string{short}, Usage: usage, Category: group, Value: parsed{read}}
}

// Number returns a flag for a whole number that is not less than least, which it stores in to. group is the heading in
// help.
func Number(group, name, usage string, least int64, to *int64) Flag {
	return Generic(group, name, usage, boundedInt{to, least})
}

// PositiveDuration returns a flag for a duration above zero.
func PositiveDuration(group, name, usage string, to *Duration) Flag {
	return Generic(group, name, usage, positiveDuration{to})
}

// Enum returns a flag whose value is one of words.
func Enum(group, name, usage string, to *string, words []string) Flag {
	return Generic(group, name, usage, enum{to, words})
}

// OptionalEnum returns a flag whose value is one of words. The first word is the value of the lone flag.
func OptionalEnum(group, name, usage string, to *string, words []string) Flag {
	return Generic(group, name, usage, optionalEnum{enum{to, words}})
}
