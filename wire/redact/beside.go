package redact

import (
	"bytes"
	"slices"
	"strings"
)

// assigned finds the value in NAME=VALUE with the name of a secret.
func assigned(text []byte, i int) (from, to int) {
	const longest = 64
	start := i
	for start > 0 && i-start <= longest && wordByte(text[start-1]) {
		start--
	}
	if start == i || i-start > longest || i+1 == len(text) || text[i+1] <= ' ' || text[i+1] == '=' {
		return 0, 0
	}
	before := byte('\n')
	if start > 0 {
		before = text[start-1]
	}
	name, query := string(text[start:i]), before == '?' || before == '&' || before == '#'
	if !SecretName(name) && !(query && secretParameter(name)) {
		return 0, 0
	}
	from, to = value(text, i+1)
	if to == from {
		return 0, 0
	}
	if query || from > i+1 || bytes.IndexByte([]byte("\n\r;\"'`"), before) >= 0 || start > 1 && before == ' ' && text[start-2] == ';' || strings.HasPrefix(name, "--") {
		return from, to
	}
	return from, ifLike(text[from:to], to)
}

// headed finds a secret after a colon: the value of a header, or of a quoted name.
func headed(text []byte, i int) (from, to int) {
	const longest = 64
	if i == 0 || i+1 == len(text) {
		return 0, 0
	}
	if quote := text[i-1]; quote == '"' || quote == '\'' {
		end := len(bytes.TrimRight(text[:i-1], `\`))
		start := bytes.LastIndexByte(text[max(end-longest, 0):end], quote) + 1 + max(end-longest, 0)
		next := while(text, i+1, func(c byte) bool { return c == ' ' || c == '\\' })
		if start == end || next == len(text) || text[next] != '"' && text[next] != '\'' || !SecretMember(string(text[start:end])) {
			return 0, 0
		}
		return value(text, next)
	}
	start := i
	for start > 0 && i-start <= longest && tokenByte(text[start-1]) {
		start--
	}
	from = while(text, i+1, func(c byte) bool { return c == ' ' || c == '\t' })
	if start == i || from == len(text) || text[from] < ' ' {
		return 0, 0
	}
	name, end := string(text[start:i]), byte('\n')
	if start > 0 && text[start-1] != '\n' {
		end = text[start-1]
	}
	if !isHeader(name) || end != '\n' && end != '"' && end != '\'' {
		if plain := plainName(name); !SecretName(name) || strings.HasSuffix(plain, "token") || strings.HasSuffix(plain, "auth") {
			return 0, 0
		}
		from, to = value(text, from)
		return from, ifLike(text[from:to], to)
	}
	to = while(text, from, func(c byte) bool { return c != end && c != '\r' && c != '\n' })
	line := text[from:to]
	if _, rest, ok := bytes.Cut(line, []byte(" ")); ok && isPlaceholder(rest) || isPlaceholder(line) {
		return 0, 0
	}
	return from, to
}

// value returns where a value is that begins at from, perhaps with a quote; it is empty for a placeholder.
func value(text []byte, from int) (start, end int) {
	ends := "\"'`&;,)]}<>|\\ \t\r\n"
	if from < len(text) && (text[from] == '"' || text[from] == '\'') {
		ends = string(text[from]) + "\\\n"
		from++
	}
	end = while(text, from, func(c byte) bool { return strings.IndexByte(ends, c) < 0 })
	if isPlaceholder(text[from:end]) {
		return from, from
	}
	return from, end
}

// isPlaceholder reports whether a value stands for a secret, or is a word of a program.
func isPlaceholder(val []byte) bool {
	if len(val) == 0 || bytes.IndexByte([]byte("$<{%*([…"), val[0]) >= 0 || bytes.IndexByte(val, '(') >= 0 {
		return true
	}
	return slices.Contains([]string{"null", "nil", "none", "None", "true", "True", "false", "False", "undefined"}, string(val))
}

// looksRandom reports whether a value cannot be a word or a number.
func looksRandom(val []byte) bool {
	digits, upper, lower := 0, 0, 0
	for _, c := range val {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		}
	}
	return len(val) >= 6 && digits > 0 && upper+lower > 0 || len(val) >= 20 && upper > 0 && lower > 0
}

// ifLike returns to if val looks random, else 0.
func ifLike(val []byte, to int) int { return choose(looksRandom(val), to) }

// choose returns to if ok, else 0.
func choose(ok bool, to int) int {
	if ok {
		return to
	}
	return 0
}
