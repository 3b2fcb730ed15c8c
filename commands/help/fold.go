package help

import (
	"strings"
	"unicode/utf8"
)

// folded returns a line of a shell in lines of at most width columns, broken at blanks outside of quotes, where a
// backslash lets it go on. What cannot be broken stays as wide as it is.
func folded(line string, width int) []string {
	const more = "    " // before what goes on
	var lines []string
	for before := ""; ; before = more {
		if utf8.RuneCountInString(before+line) <= width {
			return append(lines, before+line)
		}
		at := breakIn(line, width-utf8.RuneCountInString(before)-2)
		if at < 0 {
			return append(lines, before+line)
		}
		lines = append(lines, before+line[:at]+` \`)
		line = line[at+1:]
	}
}

// breakIn returns the place of the last blank outside of quotes that leaves at most width columns before it; where there
// is none, that of the first; -1: there is none at all.
func breakIn(line string, width int) int {
	at, columns, quote := -1, 0, rune(0)
	escaped := false
	for i, r := range line {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == ' ' && i > 0 && (columns <= width || at < 0):
			at = i
		}
		columns++
	}
	return at
}

// isShell reports whether a verbatim line is one of a shell: it begins with a prompt, or with a program of ours.
func isShell(line string) bool {
	line = strings.TrimPrefix(line, "$ ")
	for _, program := range []string{"rpcx ", "printf ", "jq "} {
		if strings.HasPrefix(line, program) {
			return true
		}
	}
	return false
}
