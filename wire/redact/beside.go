package redact

import (
	"bytes"
	"slices"
	"strings"
)

// longestName is the maximum length of a secret's name, in bytes.
const longestName = 64

// assigned finds the value at the "=" of NAME=VALUE if NAME means a secret.
func assigned(text []byte, i int) (from, to int) {
	start := back(text, i, longestName, wordByte)
	before, after := byteAt(text, start-1), byteAt(text, i+1)
	query := oneOf("?&#", before)
	if after <= ' ' || after == '=' || !isSecret(text[start:i], whole) && !(query && secretField(string(text[start:i]))) {
		return 0, 0
	}
	name := string(text[start:i])
	from, to = value(text, i+1)
	if query || name == strings.ToUpper(name) || from > i+1 || oneOf("\n\r;\"'`", before) || byteAt(text, start-2) == ';' || strings.HasPrefix(name, "--") {
		return from, to
	}
	return from, ifRandom(text[from:to], to)
}

// headed finds a secret after the colon at i: the value of a header, or of another name.
func headed(text []byte, i int) (from, to int) {
	if last := byteAt(text, i-1); oneOf("\"'", last) {
		return quoted(text, i, last)
	}
	start := back(text, i, longestName, tokenByte)
	if !isSecret(text[start:i], whole) {
		return 0, 0
	}
	name, before := string(text[start:i]), byteAt(text, start-1)
	from = while(text, i+1, func(c byte) bool { return c == ' ' || c == '\t' })
	switch {
	case byteAt(text, from) < ' ':
		return 0, 0
	case isHeader(name) && oneOf("\n\"'", before):
		return headerLine(text, from, before)
	}
	if plain := plainName(name); strings.HasSuffix(plain, "token") || strings.HasSuffix(plain, "auth") {
		return 0, 0 // words of sentences
	}
	from, to = value(text, from)
	return from, ifRandom(text[from:to], to)
}

// headerLine finds the value of a header. It ends with the line, or with the quote that precedes the name.
func headerLine(text []byte, from int, quote byte) (start, end int) {
	end = while(text, from, func(c byte) bool { return c != quote && c != '\r' && c != '\n' })
	line := text[from:end]
	stands := func(val []byte) bool { return isPlaceholder(val) && bytes.IndexByte(val, '=') < 0 } // cookies contain =
	if _, rest, ok := bytes.Cut(line, []byte(" ")); ok && stands(rest) || stands(line) {
		return 0, 0
	}
	return from, end
}

// quoted finds the string after a quoted name and the colon at i. In JSON inside a string, backslashes precede the quotes.
func quoted(text []byte, i int, quote byte) (from, to int) {
	end := len(bytes.TrimRight(text[:i-1], `\`))
	start := back(text, end, longestName, func(c byte) bool { return c != quote })
	next := while(text, i+1, func(c byte) bool { return c == ' ' || c == '\\' })
	if !oneOf("\"'", byteAt(text, next)) || !isSecret(text[start:end], member) {
		return 0, 0
	}
	return value(text, next)
}

// value finds the value at from, which may be quoted. It returns an empty range for a placeholder.
func value(text []byte, from int) (start, end int) {
	ends := "\"'`&;,)]}<>|\\ \t\r\n"
	if quote := byteAt(text, from); oneOf("\"'", quote) {
		ends = string(quote) + "\\\n"
		from++
	}
	part := func(c byte) bool { return !oneOf(ends, c) }
	end = while(text[:min(len(text), from+decides)], from, part)
	if isPlaceholder(text[from:end]) {
		return from, from
	}
	return from, while(text, end, part)
}

// isPlaceholder reports whether a value only stands for a secret, or is a call or a constant in a program.
func isPlaceholder(val []byte) bool {
	call := bytes.IndexByte(val, '(')
	switch {
	case len(val) == 0 || oneOf("$<{([…", val[0]), len(bytes.Trim(val, "*")) == 0, val[0] == '%' && len(val) <= 2:
		return true
	case call >= 3 && while(val, 0, wordByte) == call && !bytes.ContainsAny(val[:call], "0123456789"):
		return true
	}
	return slices.Contains([]string{"null", "nil", "none", "None", "true", "True", "false", "False", "undefined"}, string(val))
}

// looksRandom reports whether a value is unlikely to be a word or a number.
func looksRandom(val []byte) bool {
	if len(val) > decides {
		return true
	}
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

// ifRandom returns to if val looks random, or 0 otherwise.
func ifRandom(val []byte, to int) int { return choose(looksRandom(val), to) }

// choose returns to if ok is true, or 0 otherwise.
func choose(ok bool, to int) int {
	if ok {
		return to
	}
	return 0
}
