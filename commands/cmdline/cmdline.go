// Package cmdline parses the command line: flags and their values. It also contains the descriptions of commands for
// help and the manual, the table of exit statuses, and the correction of command lines. Only this package imports the
// command-line library.
package cmdline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/session"
)

// A CommandLine is a parsed command line. rpcx separates flags from arguments itself, with the library's table of
// flags. The library's own parser stops at an argument such as -1, accepts ' -x' as a flag, and prints help for the
// argument `help`.
type CommandLine struct {
	Cmd          *Command
	Words        []string // all words, unchanged
	Path         []string // the words that name the command
	Flags        []string // each with its value as --name=value
	Args         []string
	Dash         int      // the number of arguments before "--", or -1
	Trailing     []string // the words after "--" if they are a command to run
	WantsHelp    bool
	Brief        bool // -h: the help fits one screen
	WantsVersion bool
	VersionJSON  bool // --json follows --version

	typed  []string        // the typed line in the form of WithArgs
	common []Flag          // flags that may precede the command
	all    func() *Command // returns the whole tree
}

// TakeTrailing moves the words after "--" from Args to Trailing.
func (l *CommandLine) TakeTrailing() {
	if l.Dash >= 0 && l.Dash <= len(l.Args) {
		l.Args, l.Trailing, l.Dash = l.Args[:l.Dash:l.Dash], l.Args[l.Dash:], -1
	}
}

// multiValue lists the flags with more than one word as their value, as in jq: --arg NAME VALUE.
var multiValue = map[string][]string{
	"arg": {"a name", "a value"}, "argjson": {"a name", "a value"},
}

// Parse parses words, without the program's name. common lists the flags of every command, which may precede the
// command. all returns the tree of all commands.
func Parse(root *Command, words []string, common []Flag, all func() *Command) (*CommandLine, error) {
	l := &CommandLine{Cmd: root, Words: words, Dash: -1, common: common, all: all}
	for i := 0; i < len(words); {
		word := words[i]
		i++
		switch {
		case word == "--":
			l.Dash = len(l.Args)
			l.Args = append(l.Args, words[i:]...)
			i = len(words)
		case isFlag(word):
			n, err := l.flag(word, words[i:])
			if err != nil {
				return l, err
			}
			i += n
		case len(l.Cmd.Commands) > 0:
			if err := l.descend(word, words[i:]); err != nil {
				return l, err
			}
		default:
			l.Args = append(l.Args, word)
		}
	}
	l.typed = l.line(l.Args)
	return l, nil
}

// isFlag reports whether a word looks like a flag. -1 and ' -x' do not, but -0 does.
func isFlag(word string) bool {
	return word == "-0" || len(word) > 1 && word[0] == '-' && !(word[1] >= '0' && word[1] <= '9') && word[1] != ' '
}

// descend moves to the subcommand word. rest follows it.
func (l *CommandLine) descend(word string, rest []string) error {
	var names []string
	for _, sub := range l.Cmd.Commands {
		if sub.Name == word {
			l.Cmd, l.Path = sub, append(l.Path, word)
			return nil
		}
		names = append(names, sub.Name)
	}
	return l.unknownCommand(word, rest, names)
}

// flag parses one word of flags, and returns how many following words are its value.
func (l *CommandLine) flag(word string, rest []string) (int, error) {
	if name, ok := strings.CutPrefix(word, "--"); ok {
		name, value, given := strings.Cut(name, "=")
		return l.long(name, value, given, rest)
	}
	return l.short(word[1:], rest)
}

func (l *CommandLine) long(name, value string, given bool, rest []string) (int, error) {
	switch name {
	case "help":
		l.WantsHelp = true
		return 0, nil
	case "version":
		l.WantsVersion = true
		return 0, nil
	case "json":
		if l.WantsVersion {
			l.VersionJSON = true
			return 0, nil
		}
	}
	f := l.Lookup(name)
	if f == nil || len(name) < 2 {
		return 0, l.unknown("--"+name, value, given, rest)
	}
	if alone, ok := loneValue(f); ok && !given {
		value, given = alone, true
	}
	switch {
	case !takesValue(f) && given && value != "true" && value != "false":
		return 0, l.Usage("--%s takes no value", name)
	case !takesValue(f) || given:
		l.add(name, value, given)
		return 0, nil
	}
	return l.take(name, rest)
}

// take assigns the following word to a flag. A flag in multiValue gets several words, joined as NAME=VALUE.
func (l *CommandLine) take(name string, rest []string) (int, error) {
	need, what := 1, "a value"
	if words := multiValue[name]; words != nil {
		need = len(words)
		what = wire.Phrase(words, "and")
	}
	if len(rest) < need {
		return 0, l.Usage("--%s needs %s", name, what)
	}
	l.add(name, strings.Join(rest[:need], "="), true)
	return need, nil
}

// short parses a bundle of one-letter flags. The value of the last flag is the rest of the word, or the next word.
func (l *CommandLine) short(letters string, rest []string) (int, error) {
	for i, r := range letters {
		name := string(r)
		if name == "h" {
			l.WantsHelp, l.Brief = true, true
			continue
		}
		f := l.Lookup(name)
		if f == nil {
			return 0, l.unknown("-"+letters, "", false, rest)
		}
		if !takesValue(f) {
			l.add(f.Names()[0], "", false)
			continue
		}
		if value := letters[i+len(name):]; value != "" {
			l.add(f.Names()[0], strings.TrimPrefix(value, "="), true)
			return 0, nil
		}
		return l.take(f.Names()[0], rest)
	}
	return 0, nil
}

func (l *CommandLine) add(name, value string, given bool) {
	if given {
		name += "=" + value
	}
	l.Flags = append(l.Flags, "--"+name)
}

// Lookup returns the command's flag with that name, or nil. Before the command, it searches the flags of every command.
func (l *CommandLine) Lookup(name string) Flag {
	flags := l.Cmd.Flags
	if len(l.Path) == 0 {
		flags = l.common
	}
	for _, f := range flags {
		if called(f, name) {
			return f
		}
	}
	return nil
}

// unknown returns the Fault for an unknown flag. value (if given) and rest follow the flag.
func (l *CommandLine) unknown(word, value string, given bool, rest []string) error {
	f := l.Usage("there is no flag %s", word)
	names := []string{"help", "version"}
	names = append(names, wire.Map(l.Cmd.Flags, func(known cli.Flag) string { return LongFirst(known.Names())[0] })...)
	at := len(l.Words) - len(rest) - 1
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	instead := func(flag string) []string { // returns the line with another flag and the same value
		if given {
			flag += "=" + value
		}
		return l.Reparsed(l.Words[:at], []string{flag}, rest)
	}
	near := catalog.Nearest(name, names)
	if habit := l.habitOf(word); habit != nil {
		f.Hint, f.Fix = habit.hint, habit.fix(l, at, value, given)
		return f
	}
	switch has := ownerOf(l.all(), "rpcx", name); {
	case len(l.Args) > 0 && isCommand(l.Args[0]):
		f.Hint = "quote an endpoint that is a command: " + wire.Quote(l.Args[0]+" "+word+" …")
	case len(name) < 2:
	case l.Lookup(name) != nil && !strings.HasPrefix(word, "--"):
		f.Hint, f.Fix = "did you mean --"+name+"?", l.Reparsed(l.Words[:at], []string{"-" + word}, rest)
	case has != "":
		f.Message += " here"
		f.Hint = has + " has this flag"
	case near != "":
		if f.Hint = "did you mean --" + near + "?"; catalog.IsTypo(name, near) {
			f.Fix = instead("--" + near)
		}
	case strings.Contains(l.Cmd.ArgsUsage, "PARAM"):
		param := strings.ReplaceAll(name, "-", "_")
		f.Hint = "write a method's parameter without dashes: " + wire.Quote(param+"=VALUE")
		f.Fix = l.asParameter(param, value, given, rest)
	}
	return f
}

// isCommand reports whether an endpoint is an exec: or ipc: command of one word, which the shell may have split.
func isCommand(endpoint string) bool {
	e, err := session.ParseEndpoint(endpoint, "")
	return err == nil && len(e.Address.Command) == 1
}

// asParameter returns the line with an unknown flag as a parameter of the method. It returns nil if the flag has no
// value, if no method precedes it, or if the line has another mistake.
func (l *CommandLine) asParameter(param, value string, given bool, rest []string) []string {
	before := l.Words[:len(l.Words)-len(rest)-1]
	if !given && len(rest) > 0 && !isFlag(rest[0]) {
		value, given, rest = rest[0], true, rest[1:]
	}
	if !given || len(l.Args) < 2 {
		return nil
	}
	return l.Reparsed(before, []string{param + "=" + value}, rest)
}

// ownerOf returns the first command below c that has the flag. path is the name of c.
func ownerOf(c *Command, path, flag string) string {
	for _, sub := range c.Commands {
		name := path + " " + sub.Name
		if slices.ContainsFunc(sub.Flags, func(f Flag) bool { return slices.Contains(f.Names(), flag) }) {
			return name
		}
		if found := ownerOf(sub, name, flag); found != "" {
			return found
		}
	}
	return ""
}

// Usage returns a usage Fault with a hint that names the command's help.
func (l *CommandLine) Usage(format string, args ...any) *wire.Fault {
	return wire.NewFault(wire.Usage, fmt.Sprintf(format, args...), nil).
		WithHint("see rpcx " + strings.Join(append(slices.Clone(l.Path), "--help"), " "))
}

func takesValue(f Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}
