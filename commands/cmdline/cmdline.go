// Package cmdline parses the command line: flags and their values. It also contains the descriptions of commands for
// help and the manual, the table of exit statuses, and the correction of command lines. Only this package imports the
// command-line library.
package cmdline

import (
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/session"
)

// A CommandLine is a parsed command line. rpcx separates flags from arguments itself, and the library then sets the flags
// and runs the command. The library's own parser stops at an argument such as -1, accepts ' -x' as a flag, and prints help
// for the argument `help`.
type CommandLine struct {
	Cmd          *Command
	Words        []string // all words, unchanged
	Path         []string // the words that name the command
	Flags        []string // each with its long name and its value, as --name=value
	Args         []string
	Dash         int      // the number of arguments before "--", or -1
	Trailing     []string // the words after "--" if they are a command to run
	Open         *Flag    // the flag whose value is missing at the end of the line, or nil
	WantsHelp    bool
	Brief        bool // -h: the help fits one screen
	WantsVersion bool
	VersionJSON  bool // --json follows --version

	typed  []string        // the typed line in the form of WithArgs
	common []*Flag         // flags that may precede the command
	all    func() *Command // returns the whole tree
}

// TakeTrailing moves the words after "--" from Args to Trailing.
func (l *CommandLine) TakeTrailing() {
	if l.Dash >= 0 && l.Dash <= len(l.Args) {
		l.Args, l.Trailing, l.Dash = l.Args[:l.Dash:l.Dash], l.Args[l.Dash:], -1
	}
}

// Parse parses words, without the program's name. common lists the flags of every command, which may precede the
// command. all returns the tree of all commands.
func Parse(root *Command, words []string, common []*Flag, all func() *Command) (*CommandLine, error) {
	l := &CommandLine{Cmd: root, Words: words, Dash: -1, common: common, all: all}
	for rest := words; len(rest) > 0; {
		n, err := l.word(rest[0], rest[1:])
		if err != nil {
			return l, err
		}
		rest = rest[1+n:]
	}
	l.typed = l.line(l.Args)
	return l, nil
}

// ParseBegun parses the words of a line that the user is typing, and skips mistakes.
func ParseBegun(root *Command, words []string) *CommandLine {
	l := &CommandLine{Cmd: root, Words: words, Dash: -1, all: func() *Command { return root }}
	for rest := words; len(rest) > 0; {
		n, _ := l.word(rest[0], rest[1:])
		rest = rest[1+n:]
	}
	return l
}

// word parses one word, and returns how many of the words after it belong to it.
func (l *CommandLine) word(word string, rest []string) (int, error) {
	switch {
	case word == "--":
		l.Dash = len(l.Args)
		l.Args = append(l.Args, rest...)
		return len(rest), nil
	case isFlag(word):
		return l.flag(word, rest)
	case len(l.Cmd.Commands) > 0:
		return 0, l.descend(word, rest)
	}
	l.Args = append(l.Args, word)
	return 0, nil
}

// isFlag reports whether a word looks like a flag. -1 and ' -x' do not, but -0 does.
func isFlag(word string) bool {
	return word == "-0" || len(word) > 1 && word[0] == '-' && !(word[1] >= '0' && word[1] <= '9') && word[1] != ' '
}

// descend moves to the subcommand word. rest follows it.
func (l *CommandLine) descend(word string, rest []string) error {
	if sub := l.Cmd.Sub(word); sub != nil {
		l.Cmd, l.Path = sub, append(l.Path, word)
		return nil
	}
	return l.unknownCommand(word, rest, wire.Map(l.Cmd.Commands, func(sub *Command) string { return sub.Name }))
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
	switch {
	case given && f.IsBoolFlag() && value != "true" && value != "false":
		return 0, l.Usage("--%s takes no value", name)
	case !given && f.lone == "":
		return l.take(f, rest)
	case !given && !f.IsBoolFlag():
		value, given = f.lone, true
	}
	return 0, l.add(f, value, given)
}

// take assigns the following word to a flag. A flag with two placeholders gets two words, joined as NAME=VALUE, as in jq:
// --arg NAME VALUE.
func (l *CommandLine) take(f *Flag, rest []string) (int, error) {
	need, what := 1, "a value"
	if f.Arg == "NAME VALUE" {
		need, what = 2, "a name and a value"
	}
	if len(rest) < need {
		l.Open = f
		return len(rest), l.Usage("--%s needs %s", f.Name, what)
	}
	return need, l.add(f, strings.Join(rest[:need], "="), true)
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
		if f.IsBoolFlag() {
			l.Flags = append(l.Flags, "--"+f.Name)
			continue
		}
		if value := letters[i+len(name):]; value != "" {
			return 0, l.add(f, strings.TrimPrefix(value, "="), true)
		}
		return l.take(f, rest)
	}
	return 0, nil
}

// add adds a flag with its value, if given.
func (l *CommandLine) add(f *Flag, value string, given bool) error {
	flag := "--" + f.Name
	if given && f.filled != "" && strings.TrimSpace(value) == "" {
		return l.Usage("%s needs %s, not an empty value", flag, f.filled).WithHint("is a variable in the script unset?")
	}
	if given {
		flag += "=" + value
	}
	l.Flags = append(l.Flags, flag)
	return nil
}

// Lookup returns the command's flag with that name, or nil. Before the command, it searches the flags of every command.
func (l *CommandLine) Lookup(name string) *Flag {
	flags := l.Cmd.Flags
	if len(l.Path) == 0 {
		flags = l.common
	}
	for _, f := range flags {
		if f.called(name) {
			return f
		}
	}
	return nil
}

// unknown returns the Fault for an unknown flag. value (if given) and rest follow the flag.
func (l *CommandLine) unknown(word, value string, given bool, rest []string) error {
	f := l.Usage("there is no flag %s", word)
	names := append([]string{"help", "version"}, wire.Map(l.Cmd.Flags, func(known *Flag) string { return known.Name })...)
	at := len(l.Words) - len(rest) - 1
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	near := catalog.Nearest(name, names)
	if habit := l.habitOf(word); habit != nil {
		f.Hint, f.Fix = habit.hint, habit.fix(l, at, value, given)
		return f
	}
	switch owners := ownersOf(l.all(), name); {
	case len(l.Args) > 0 && isCommand(l.Args[0]):
		f.Hint = "quote an endpoint that is a command: " + wire.Quote(l.Args[0]+" "+word+" …")
	case len(name) < 2:
	case l.Lookup(name) != nil && !strings.HasPrefix(word, "--"):
		f.Hint, f.Fix = "did you mean --"+name+"?", l.Reparsed(l.Words[:at], []string{"-" + word}, rest)
	case owners != nil:
		f.Message += " here"
		f.Hint = "use it with " + strings.Join(owners[:min(len(owners), 3)], " or ")
	case near != "":
		flag := "--" + near
		f.Hint = "did you mean " + flag + "?"
		if given {
			flag += "=" + value
		}
		if catalog.IsTypo(name, near) {
			f.Fix = l.Reparsed(l.Words[:at], []string{flag}, rest)
		}
	case strings.Contains(l.Cmd.Args, "PARAM"):
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

// ownersOf returns the commands that have the flag.
func ownersOf(root *Command, flag string) (owners []string) {
	root.Walk([]string{"rpcx"}, func(path []string, c *Command) {
		if slices.ContainsFunc(c.Flags, func(f *Flag) bool { return f.called(flag) }) {
			owners = append(owners, strings.Join(path, " "))
		}
	})
	return owners
}

// Usage returns a usage Fault with a hint that names the command's help.
func (l *CommandLine) Usage(format string, args ...any) *wire.Fault {
	return wire.Usagef(format, args...).WithHint("see rpcx " + strings.Join(append(slices.Clone(l.Path), "--help"), " "))
}
