// Package hook answers the peer's requests with the user's hooks: shell commands, co-processes, jq expressions and
// constants (rpcx-hooks(7)).
//
// An Entry is one hook, NAME=ANSWER. A Table contains all entries and their common limits. Bind returns the
// ConnectionHooks of one connection, which own the processes that they start. Input from the peer reaches a command
// only through stdin and RPCX_ variables, never through its command line.
package hook

import (
	"os/exec"
	"regexp"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/jq"
	"rpcx/wire/scan"
)

// A Kind determines how a hook answers.
type Kind string

// Kinds by their prefixes.
const (
	Sh    Kind = "sh"    // a shell command; stdout is one JSON value, or null if empty
	Text  Kind = "text"  // a shell command; stdout becomes a string
	Lines Kind = "lines" // a shell command; each line of stdout is an event, sent as soon as it is written
	Co    Kind = "co"    // one process for all calls of a connection
	JQ    Kind = "jq"    // a jq expression whose input is the params
	JSON  Kind = "json"  // a constant
	Deny  Kind = "deny"  // a refusal
	Inbox Kind = "inbox" // leaves the call pending in a session, for another process to answer
)

// kinds are the kinds that have a prefix with a colon.
var kinds = []Kind{Sh, Text, Lines, Co, JQ, JSON, Deny}

// An Answer is the part of a hook after "=", checked.
type Answer struct {
	Kind Kind
	Text string             // the command, the jq expression, the constant, or the text of the refusal
	prog func() *jq.Program // compiles a jq expression or returns the compiled one
}

// An Entry is one hook, with its name and answer.
type Entry struct {
	Pattern string // a name, in which "*" matches any characters
	Answer  Answer
}

// Parse parses NAME=ANSWER at the first "=". Errors are usage Faults.
func Parse(spec string) (Entry, error) {
	name, text, ok := strings.Cut(spec, "=")
	if !ok || name == "" {
		return Entry{}, wire.Usagef("a hook must be NAME=ANSWER: %q", spec)
	}
	answer, err := ParseAnswer(text)
	if err != nil {
		return Entry{}, inside("hook "+name, err)
	}
	return Entry{name, answer}, nil
}

var prefixed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]+:`) })

// looksLikeJQ matches a jq path where a command is expected, such as .a. It does not match a path with a slash, because
// it can be a command.
var looksLikeJQ = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.(\[[^/]*|[A-Za-z_][^/ ]*( .*)?)?$`) })

// ParseAnswer parses an ANSWER, compiles jq expressions and checks constants. Errors are usage Faults.
func ParseAnswer(s string) (Answer, error) {
	kind, text := Sh, s
	prefix := prefixed().FindString(s)
	switch {
	case s == "inbox":
		kind, text = Inbox, ""
	case s == string(Deny):
		kind, text = Deny, "refused"
	case prefix != "":
		kind, text = Kind(strings.TrimSuffix(prefix, ":")), s[len(prefix):]
	}
	a := Answer{Kind: kind, Text: text}
	switch kind {
	case Sh, Text, Lines, Co:
		return a, checkCommand(s, text)
	case JQ:
		prog, err := jq.Compile(text, jq.Options{Funcs: functions})
		a.prog = func() *jq.Program { return prog }
		return a, err
	case JSON:
		if err := scan.Valid([]byte(text), wire.DefaultMaxDepth); err != nil {
			return a, wire.Usagef("%q is not JSON: %v", s, err)
		}
	case Inbox:
		if text != "" {
			return a, unknownKind(s, string(kind))
		}
	case Deny:
		if text == "" {
			a.Text = "refused"
		}
	default:
		return a, unknownKind(s, string(kind))
	}
	return a, nil
}

// checkCommand returns an error if sh cannot run text, which is the command in the ANSWER s.
func checkCommand(s, text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return wire.Usagef("%q contains no command", s)
	case text == s && looksLikeJQ().MatchString(text):
		return meant(s, "jq:"+text, "%q is not a command", s)
	case text == s && strings.ContainsRune("{[", rune(text[0])) && scan.Valid([]byte(text), wire.DefaultMaxDepth) == nil: // no shell would run it
		return meant(s, "json:"+text, "%q is not a command", s)
	case strings.ContainsRune(text, 0):
		return wire.Usagef("a command cannot contain a NUL")
	}
	if _, err := exec.LookPath("sh"); err != nil {
		return wire.Usagef("%q needs sh, which is not in PATH", s).WithHint("jq:, json: and deny: do not need sh")
	}
	return nil
}

// A Meant is the cause of a Fault about an ANSWER that is probably a mistake for another one.
type Meant struct{ Given, Better string }

func (Meant) Error() string { return "probably another answer" }

// meant returns the Fault for the ANSWER s, which is probably a mistake for better.
func meant(s, better, format string, args ...any) error {
	f := wire.Usagef(format, args...)
	f.Hint = "did you mean " + better + "? To run a command of that name, write sh:" + s
	if _, err := ParseAnswer(better); err == nil {
		f.Err = Meant{s, better}
	}
	return f
}

func unknownKind(s, kind string) error {
	f := wire.Usagef("%q: unknown kind of answer %q", s, kind)
	words := wire.Map(append([]Kind{Inbox}, kinds...), func(k Kind) string { return string(k) })
	if near := catalog.Nearest(kind, words); near != "" {
		return meant(s, near+strings.TrimPrefix(s, kind), "%s", f.Message)
	}
	return f.WithHint("to run a command of that name, write sh:" + s)
}

// inside adds the place to the message of a usage Fault.
func inside(where string, err error) error {
	if f := wire.AsFault(err); f != nil {
		return f.About(where)
	}
	return wire.NewFault(wire.Usage, where+": "+err.Error(), err)
}
