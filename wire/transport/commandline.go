package transport

import (
	"strings"

	"rpcx/wire"
	"rpcx/wire/redact"
)

// wordReader splits a command into words. Whatever it accepts means the same to
// a shell; what only a shell could do is refused.
type wordReader struct {
	s     string
	i     int
	words []string
	word  strings.Builder
	open  bool // word has begun, if only with empty quotes
}

// parseCommand sets the words of exec and ipc.
func (a *Address) parseCommand(rest string) *wire.Fault {
	if name := assignment(rest); name != "" {
		return a.needsShell(rest, name+" in front of the command")
	}
	r := &wordReader{s: rest}
	for r.i < len(r.s) {
		if special := r.next(); special != "" {
			return a.needsShell(rest, special)
		}
		if r.i > len(r.s) {
			return Usage("%s: %s", a.Scheme, "the command ends inside quotes or after a backslash")
		}
	}
	r.end()
	if len(r.words) > 0 && r.words[0] == "" {
		return Usage("%s: the command's first word is empty", a.Scheme)
	}
	a.Command = r.words
	return nil
}

// A NeedsShell is the cause of the Fault for a command that is written for a shell.
type NeedsShell struct {
	Command string // as it was given
	Better  string // the command with the shell that it needs
}

func (NeedsShell) Error() string { return "no shell reads the command" }

// needsShell returns the Fault for a command that is written for a shell.
func (a *Address) needsShell(rest, what string) *wire.Fault {
	better := "sh -c " + wire.Quote(strings.TrimSpace(rest))
	f := UsageHint(a.Scheme+":"+better, "%s: no shell reads this command, and it holds %s", a.Scheme, what)
	f.Err = NeedsShell{rest, better}
	return f
}

// next reads one character or quoted run. It returns what of it only a shell
// could handle. An unterminated run leaves i beyond the end.
func (r *wordReader) next() (special string) {
	switch c := r.s[r.i]; c {
	case ' ', '\t', '\n', '\r':
		r.end()
		r.i++
	case '\'':
		r.open = true
		n := strings.IndexByte(r.s[r.i+1:], '\'')
		if n < 0 {
			r.i = len(r.s) + 1
			return ""
		}
		r.word.WriteString(r.s[r.i+1 : r.i+1+n])
		r.i += n + 2
	case '"':
		r.open = true
		r.i++
		return r.doubleQuoted()
	case '\\':
		r.escaped()
	case '$', '`', '*', '?', '~', '|', '&', ';', '<', '>':
		return "an unquoted " + string(c)
	default:
		r.open = true
		r.word.WriteByte(c)
		r.i++
	}
	return ""
}

// escaped reads a backslash outside quotes and what follows it.
func (r *wordReader) escaped() {
	if r.i+1 < len(r.s) && r.s[r.i+1] != '\n' { // a line that goes on is no character
		r.open = true
		r.word.WriteByte(r.s[r.i+1])
	}
	if r.i++; r.i < len(r.s) {
		r.i++
		return
	}
	r.i = len(r.s) + 1
}

// doubleQuoted reads up to the closing quote.
func (r *wordReader) doubleQuoted() (special string) {
	for ; r.i < len(r.s); r.i++ {
		switch c := r.s[r.i]; c {
		case '"':
			r.i++
			return ""
		case '$', '`':
			return string(c) + " inside double quotes"
		case '\\':
			if r.i+1 < len(r.s) && strings.IndexByte("\"\\$`", r.s[r.i+1]) >= 0 {
				r.i++
			}
			r.word.WriteByte(r.s[r.i])
		default:
			r.word.WriteByte(c)
		}
	}
	r.i = len(r.s) + 1
	return ""
}

// end ends the word that has begun.
func (r *wordReader) end() {
	if r.open {
		r.words = append(r.words, r.word.String())
	}
	r.word.Reset()
	r.open = false
}

// assignment returns the NAME= that a command begins with.
func assignment(s string) string {
	s = strings.TrimLeft(s, " \t\r\n")
	for i := range len(s) {
		c := s[i] | 0x20
		switch {
		case s[i] == '=' && i > 0:
			return s[:i+1]
		case s[i] == '_', c >= 'a' && c <= 'z', i > 0 && s[i] >= '0' && s[i] <= '9':
		default:
			return ""
		}
	}
	return ""
}

// joinWords writes words so that a shell, and Parse, read them back.
func joinWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = wire.Quote(w)
		if i == 0 && assignment(w) != "" {
			quoted[i] = "'" + w + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// ShownCommand returns a command as a user may be shown it: what is named like a secret is left out.
func ShownCommand(words []string) string {
	shown := make([]string, len(words))
	for i, w := range words {
		shown[i] = string(redact.Text([]byte(w)))
		name, _, given := strings.Cut(w, "=")
		switch {
		case i > 0 && given && redact.SecretName(strings.TrimLeft(name, "-")):
			shown[i] = name + "=" + redact.Mark
		case i > 1 && strings.HasPrefix(words[i-1], "-") && redact.SecretName(strings.TrimLeft(words[i-1], "-")) && !strings.HasPrefix(w, "-"):
			shown[i] = redact.Mark
		}
	}
	return joinWords(shown)
}
