package daemon

import (
	"slices"
	"strings"

	"rpcx/commands/cmdline"
)

// A movedFlag is a former flag of connect that is a command below rpcx session
// now.
type movedFlag struct {
	flag   string
	verb   []string
	values int  // how many words followed the flag
	all    bool // it is about all sessions, and takes no name
}

// movedFlags lists them all, so that connect can name the new form to users of
// the old one.
var movedFlags = []movedFlag{
	{"list", []string{"list"}, 0, true},
	{"status", []string{"status"}, 1, false},
	{"close", []string{"close"}, 1, false},
	{"close-all", []string{"close", "--all"}, 0, true},
	{"next", []string{"next"}, 0, false},
	{"reply", []string{"reply"}, 2, false},
	{"reject", []string{"reject"}, 3, false},
}

// Moved returns the usage Fault, with the new command, for a command line of
// connect that uses a moved flag; nil if it uses none.
func Moved(l *cmdline.CommandLine) error {
	if !slices.Equal(l.Path, []string{"connect"}) {
		return nil
	}
	for i, word := range l.Words {
		name, value, given := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		at := slices.IndexFunc(movedFlags, func(m movedFlag) bool { return "--"+m.flag == word || given && "--"+m.flag+"="+value == word })
		if word == "--" {
			break
		}
		if at < 0 || !strings.HasPrefix(word, "--") {
			continue
		}
		m := movedFlags[at]
		f := l.Usage("--%s is no flag of connect", name)
		f.Hint = "sessions have commands of their own: rpcx session " + m.verb[0]
		f.Fix = m.fix(l.Words[:i], value, given, l.Words[i+1:])
		return f
	}
	return nil
}

// fix returns the new form of a line whose flag stood between before and after;
// nil if a word is missing. If the session was the endpoint, its name comes
// first.
func (m movedFlag) fix(before []string, value string, given bool, after []string) []string {
	var values []string
	if given {
		values = append(values, value)
	}
	n := max(m.values-len(values), 0)
	if n > len(after) {
		return nil
	}
	values = append(values, after[:n]...)
	rest := slices.Concat(before, after[n:])
	if at := slices.Index(rest, "connect"); at >= 0 {
		rest = slices.Delete(rest, at, at+1)
	}
	at := slices.IndexFunc(rest, func(w string) bool { return strings.HasPrefix(w, "@") })
	if at >= 0 {
		if !m.all {
			values = append([]string{strings.TrimPrefix(rest[at], "@")}, values...)
		}
		rest = slices.Delete(rest, at, at+1)
	}
	if len(values) == 0 && !m.all || (m.values > 1 && at < 0) || cmdline.HasSecret(nil, slices.Concat(rest, values)) {
		return nil
	}
	for i := range values {
		values[i] = strings.TrimPrefix(values[i], "@")
	}
	return slices.Concat([]string{"rpcx", "session"}, m.verb[:1], values, m.verb[1:], rest)
}
