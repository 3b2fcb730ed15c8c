package suggest

import (
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/params"
	"rpcx/wire"
	"rpcx/wire/hook"
	"rpcx/wire/jq"
	"rpcx/wire/scan"
)

// programFlags are the flags with jq programs as their values.
var programFlags = []string{"--expect", "--expect-any", "--expect-none", "--until", "--select", "--jq", "-q"}

// operators are words that join the parts of a jq program. As a parameter, such a word shows that the program has lost
// its quotes.
var operators = []string{"==", "!=", "<", ">", "<=", ">=", "=", "|", "and", "or", "+", "-", "*", "//"}

// misplacedWord returns why arg cannot be a parameter, and the intended line, or "" if arg may be one.
func misplacedWord(l *cmdline.CommandLine, arg string) (hint string, fix []string) {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	switch dash := slices.Index(l.Words, "--"); {
	case dash >= 0 && strings.HasPrefix(arg, "-") && l.Lookup(name) != nil:
		return "flags must precede --", l.Reparsed(l.Words[:dash], l.Words[dash+1:])
	case slices.Contains(operators, arg):
		return lostQuotes(l, arg)
	case len(arg) > 1 && arg[0] == '.' && !strings.Contains(arg, "=") && !l.Has("jq") && isProgram(arg):
		at := slices.Index(l.Words, arg)
		return "--jq filters the result", l.Reparsed(l.Words[:at], []string{"--jq", arg}, l.Words[at+1:])
	}
	return "", nil
}

func isProgram(text string) bool {
	_, err := jq.Compile(text, jq.Options{})
	return err == nil
}

// lostQuotes returns the line with quotes around the value of the flag before the word operator, or "".
func lostQuotes(l *cmdline.CommandLine, operator string) (hint string, fix []string) {
	at := slices.Index(l.Words, operator)
	flag, value, joined := "", "", false
	if at > 0 {
		flag, value, joined = strings.Cut(l.Words[at-1], "=")
	}
	first := at - 1
	if !slices.Contains(programFlags, flag) || !joined {
		if at < 2 {
			return "", nil
		}
		first, flag, value = at-2, l.Words[at-2], l.Words[at-1]
	}
	if flag != "--on" && !slices.Contains(programFlags, flag) {
		return "", nil
	}
	hint = "quote the value of " + flag + " for the shell: '…'"
	for end := len(l.Words); end > at; end-- {
		words := append([]string{value}, l.Words[at:end]...)
		program := strings.Join(words, " ")
		if better, ok := jq.Comparison(program); ok && flag != "--on" {
			program = better
		}
		if isValueOf(flag, program) {
			return hint, l.Reparsed(l.Words[:first], []string{flag, program}, l.Words[end:])
		}
		last := len(words) - 1
		words[last] = string(scan.AppendQuoted(nil, words[last])) // the shell removes the quotes of a string
		if program = strings.Join(words, " "); last > 1 && slices.Contains([]string{"==", "!="}, words[last-1]) && isValueOf(flag, program) {
			return hint, l.Reparsed(l.Words[:first], []string{flag, program}, l.Words[end:])
		}
	}
	return hint, nil
}

// isValueOf reports whether text is a valid value of the flag.
func isValueOf(flag, text string) bool {
	if flag == "--on" {
		e, err := hook.Parse(text)
		return err == nil && e.Answer.Kind == hook.JQ
	}
	return isProgram(text)
}

// CheckMethod returns an error for a METHOD that is a whole message.
func CheckMethod(run *env.Env, method string) error {
	msg := []byte(method)
	if !strings.HasPrefix(method, "{") && !strings.HasPrefix(method, "[") || scan.Valid(msg, wire.DefaultMaxDepth) != nil {
		return nil
	}
	f := run.Line.Usage("METHOD is a name, but this is a JSON message")
	f.Hint = "write METHOD and its parameters as separate words; --send sends a message unchanged"
	name, _ := scan.Text(scan.Get(msg, "method"))
	if args := run.Line.Args; cmdline.IsSafeName(name) && len(args) == 2 {
		args = []string{args[0], name}
		if given := scan.Get(msg, "params"); strings.ContainsRune("oa", rune(scan.Type(given))) {
			args = append(args, string(scan.Compact(nil, given)))
		}
		f.Fix = run.Line.WithArgs(args)
	}
	return f
}

// methodWord adds the intended line to the failure of a call whose METHOD contains parameters or is a parameter.
func methodWord(run *env.Env, f *wire.Fault) {
	args := run.Line.Args
	if len(args) < 2 {
		return
	}
	if params.IsKeyOp(args[1]) {
		f.Hint = "METHOD goes before the parameters"
		return
	}
	words, _, err := params.Split(args[1])
	if err == nil && len(words) > 1 && cmdline.IsSafeName(words[0]) && params.IsKeyOp(words[1]) {
		f.Hint = "write METHOD and its parameters as separate words"
		f.Fix = run.Line.WithArgs(slices.Concat(args[:1], words, args[2:]))
	}
}
