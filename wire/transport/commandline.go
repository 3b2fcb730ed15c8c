package transport

import (
	"strings"

	"rpcx/wire"
	"rpcx/wire/redact"
)

// parseCommand sets the command for exec and ipc. It rejects commands that only a shell could run.
func (a *Address) parseCommand(rest string) *wire.Fault {
	if name := assignment(rest); name != "" {
		return a.needsShell(rest, name+" in front of the command")
	}
	words, special, whole := splitWords(rest)
	switch {
	case special != "":
		return a.needsShell(rest, special)
	case !whole:
		return wire.Usagef("%s: %s", a.Scheme, "the command ends inside quotes or after a backslash")
	case len(words) > 0 && words[0] == "":
		return wire.Usagef("%s: the command's first word is empty", a.Scheme)
	}
	a.Command = words
	return nil
}

// splitWords splits a command into words in the same way as a shell. special describes the first part that only a shell
// could interpret, or is "". whole is false if the command ends inside quotes or after a backslash.
func splitWords(s string) (words []string, special string, whole bool) {
	var word strings.Builder
	open := false // a word has started; it may still be empty
	end := func() {
		if open {
			words = append(words, word.String())
		}
		word.Reset()
		open = false
	}
	for len(s) > 0 {
		text, whole := s[:1], true
		s = s[1:]
		switch text {
		case " ", "\t", "\r", "\n":
			end()
			continue
		case "'":
			text, s, whole = strings.Cut(s, "'")
		case `"`:
			text, s, special, whole = doubleQuoted(s)
		case `\`:
			if strings.HasPrefix(s, "\n") { // backslash and newline continue the line
				s = s[1:]
				continue
			}
			if whole = s != ""; whole {
				text, s = s[:1], s[1:]
			}
		case "$", "`", "*", "?", "~", "|", "&", ";", "<", ">":
			special = "an unquoted " + text
		}
		if special != "" || !whole {
			return nil, special, false
		}
		word.WriteString(text)
		open = true
	}
	end()
	return words, "", true
}

// doubleQuoted returns the text before the closing quote, and the rest after it.
func doubleQuoted(s string) (text, rest, special string, closed bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], "", true
		case c == '$' || c == '`':
			return "", "", string(c) + " inside double quotes", false
		case c == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", "", "", false
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
