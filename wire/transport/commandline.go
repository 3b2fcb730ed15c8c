package transport

import (
	"strings"

	"rpcx/wire"
	"rpcx/wire/redact"
)

// wordReader splits a command into words in the same way as a shell. It rejects commands that only a shell could run.
type wordReader struct {
	s     string
	i     int
	words []string
	word  strings.Builder
	open  bool // a word has started; it may still be empty
}

// parseCommand sets the command for exec and ipc.
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
			return wire.Usagef("%s: %s", a.Scheme, "the command ends inside quotes or after a backslash")
		}
	}
	r.end()
	if len(r.words) > 0 && r.words[0] == "" {
		return wire.Usagef("%s: the command's first word is empty", a.Scheme)
	}
	a.Command = r.words
	return nil
}

// A NeedsShell is the cause of the Fault for a command that only a shell could run.
type NeedsShell struct {
	Command string // as the user typed it
	Better  string // the same command, run by a shell
}

func (NeedsShell) Error() string { return "the command needs a shell" }

// needsShell returns the Fault for a command that only a shell could run. what is the part that needs the shell.
func (a *Address) needsShell(rest, what string) *wire.Fault {
	better := "sh -c " + wire.Quote(strings.TrimSpace(rest))
	f := UsageHint(a.Scheme+":"+better, "%s: the command contains %s and needs a shell", a.Scheme, what)
	f.Err = NeedsShell{rest, better}
	return f
}

// next reads one character, or one quoted run of characters. If only a shell could interpret it, next returns a
// description of it. If the run has no closing quote, next moves i beyond the end.
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

// escaped reads a backslash outside quotes and the character after it.
func (r *wordReader) escaped() {
	if r.i+1 < len(r.s) && r.s[r.i+1] != '\n' { // backslash and newline continue the line
		r.open = true
		r.word.WriteByte(r.s[r.i+1])
	}
	if r.i++; r.i < len(r.s) {
		r.i++
		return
	}
	r.i = len(r.s) + 1
}

// doubleQuoted reads through the closing quote.
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

// end ends the current word.
func (r *wordReader) end() {
	if r.open {
		r.words = append(r.words, r.word.String())
	}
	r.word.Reset()
	r.open = false
}

// assignment returns the NAME= at the start of a command.
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

// joinWords quotes words in a form that a shell, and Parse, can read.
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

// ShownCommand returns a command line for display: quoted, and with secrets redacted.
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
