package redact

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// HasSecret reports whether a string is or contains a secret that is recognizable by its form, or by a name beside it
// in the string.
func HasSecret(text []byte) bool {
	_, to := find(text, 0)
	return to > 0 || nested(text)
}

// Suspect reports whether a quoted JSON string contains a secret, or names a secret that may be beside it. word is set if the string
// consists of lower-case letters and digits.
func Suspect(quoted []byte, word bool) bool {
	text := quoted[1 : len(quoted)-1]
	if !word {
		text = scan.Unescaped(text)
	}
	return len(text) <= longestName && isSecret(text, member) || !word && HasSecret(text)
}

// Spans replaces each secret that HasSecret finds in b by Mark. A Stream finds more: values beside names in JSON, even in pieces.
func Spans(b []byte) []byte {
	from, to := find(b, 0)
	if to == 0 {
		return b
	}
	var out []byte
	done := 0
	for ; to > 0; from, to = find(b, to) {
		out = append(append(out, b[done:max(from, done)]...), Mark...)
		done = to
	}
	return append(out, b[done:]...)
}

// find returns the place of the first secret in text that ends after start. to is 0 if there is none. find reads only the
// bytes around anchors.
func find(text []byte, start int) (from, to int) {
	for i := nextAnchor(text, start); i < len(text); i = nextAnchor(text, i+1) {
		switch text[i] {
		case ' ':
			if endsScheme(byteAt(text, i-1)) {
				from, to = credentials(text, i)
			}
		case 'I':
			from, to = cloudKey(text, i)
		case 'J':
			from, to = webToken(text, i)
		case '@':
			from, to = userinfo(text, i)
		case '=':
			from, to = assigned(text, i)
		case ':':
			from, to = headed(text, i)
		default:
			from, to = prefixed(text, i)
		}
		if to > max(from, start) {
			return from, to
		}
	}
	return 0, 0
}

// webToken finds a JSON Web Token, whose header begins with "eyJ".
func webToken(text []byte, i int) (from, to int) {
	const least = 8 // the minimum length of a part
	if from = i - 2; from < 0 || text[from] != 'e' || text[i-1] != 'y' || from > 0 && tokenByte(text[from-1]) {
		return 0, 0
	}
	header := while(text, from, tokenByte)
	payload := while(text, min(header+1, len(text)), tokenByte)
	if header-i <= least || header == len(text) || text[header] != '.' || payload-header <= least || payload == len(text) || text[payload] != '.' {
		return 0, 0
	}
	return from, while(text, payload, func(c byte) bool { return c == '.' || tokenByte(c) })
}

// cloudKey finds access keys of Amazon (AKIA, ASIA) and Google (AIza), which have fixed lengths.
func cloudKey(text []byte, i int) (from, to int) {
	long := 0
	switch {
	case i >= 2 && (bytes.HasPrefix(text[i-2:], []byte("AKIA")) || bytes.HasPrefix(text[i-2:], []byte("ASIA"))):
		from, long = i-2, 20
	case i >= 1 && bytes.HasPrefix(text[i-1:], []byte("AIza")):
		from, long = i-1, 39
	default:
		return 0, 0
	}
	is := tokenByte
	if long == 20 {
		is = alphanumeric
	}
	if from > 0 && (wordOnly(text[from-1]) || text[from-1] == '+') { // from is inside Base64
		return 0, 0
	}
	to = while(text[:min(len(text), from+long+1)], from, is)
	return from, choose(to-from == long, to)
}

// prefixes are the prefixes of keys that services issue, with the minimum length of the rest in bytes.
var prefixes = map[string]int{
	"ghp_": 30, "gho_": 30, "ghs_": 30, "ghu_": 30, "ghr_": 30, "github_pat_": 30, "glpat-": 18, "glrt-": 18, "gldt-": 18, "glptt-": 18,
	"sk-": 20, "sk_live_": 16, "rk_live_": 16, "sk_test_": 16, "rk_test_": 16, "whsec_": 20, "xapp-": 10, "xoxa-": 10, "xoxb-": 10,
	"xoxe-": 10, "xoxp-": 10, "xoxr-": 10, "xoxs-": 10, "npm_": 30, "hf_": 30, "pypi-": 30, "dop_v1_": 40, "shpat_": 30, "shpss_": 30,
	"GOCSPX-": 20, "lin_api_": 30, "glsa_": 30, "ya29.": 20, "hvs.": 20, "SG.": 20,
}

const (
	longestPrefix = len("github_pat_")
	shortestKey   = 10
)

// decides is the number of bytes of a value that are examined to decide whether it is a secret. It bounds the scan at
// each anchor.
const decides = 256

// prefixed finds a key with a service's prefix, a PEM private key, or the value of an option such as --password.
func prefixed(text []byte, i int) (from, to int) {
	c, after := text[i], byteAt(text, i+1)
	if c == '-' && after == '-' {
		return dashed(text, i)
	}
	if !tokenByte(after) || len(text)-i <= shortestKey || !endsPrefix(byteAt(text, i-1), c) {
		return 0, 0
	}
	before, behind := alphanumeric, tokenByte
	switch c {
	case '_':
		before, behind = wordOnly, alphanumeric
	case '.':
		behind = func(c byte) bool { return c == '.' || tokenByte(c) }
	}
	from = back(text, i, longestPrefix, before)
	prefix := string(text[from : i+1])
	least := prefixes[prefix]
	if least == 0 {
		return 0, 0
	}
	if prefix == "github_pat_" {
		behind = tokenByte
	}
	to = while(text[:min(len(text), i+1+decides)], i+1, behind)
	if key := text[i+1 : to]; len(key) < least || c == '-' && isWords(key) {
		return 0, 0
	}
	return from, while(text, to, behind)
}

// isWords reports whether text consists of lower-case words with hyphens between them.
func isWords(text []byte) bool {
	return bytes.ContainsRune(text, '-') && !bytes.ContainsFunc(text, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') })
}

// dashed finds a PEM private key, or the value of an option that means a secret, at two hyphens.
func dashed(text []byte, i int) (from, to int) {
	if rest, ok := bytes.CutPrefix(text[i:], []byte("-----BEGIN ")); ok {
		const longest = 64 // the length of the label
		label, _, ok := bytes.Cut(rest[:min(len(rest), longest)], []byte("-----"))
		if !ok || !bytes.Contains(label, []byte("PRIVATE KEY")) {
			return 0, 0
		}
		end := bytes.Index(text[i:], []byte("-----END "))
		if end < 0 {
			return i, len(text)
		}
		end += i + len("-----END ")
		return i, while(text, end, func(c byte) bool { return c == '-' || c == ' ' || c >= 'A' && c <= 'Z' })
	}
	end := while(text[:min(len(text), i+2+longestName)], i+2, tokenByte)
	if alphanumeric(byteAt(text, i-1)) || byteAt(text, end) != ' ' || !isSecret(text[i+2:end], whole) {
		return 0, 0
	}
	from, to = value(text, end+1)
	return from, ifRandom(text[from:to], to)
}

// userinfo finds the user and password of a URL before the @ at i.
func userinfo(text []byte, i int) (from, to int) {
	const longest, shortest = 512, 20 // shortest is the minimum length of a token, which some services accept as the user
	from = back(text, i, longest, func(c byte) bool { return !oneOf("/@\" \t\r\n", c) })
	if from < 4 || string(text[from-3:from]) != "://" || !alphanumeric(text[from-4]) {
		return 0, 0
	}
	user, password, both := bytes.Cut(text[from:i], []byte(":"))
	if !both {
		return from, choose(len(user) >= shortest && while(user, 0, tokenByte) == len(user), i)
	}
	return from, choose(!isTemplate(password), i)
}

// isTemplate reports whether a URL's password is empty, a variable or a placeholder.
func isTemplate(password []byte) bool {
	if len(password) == 0 || bytes.HasPrefix(password, []byte(Mark)) || len(bytes.Trim(password, "*")) == 0 {
		return true
	}
	switch last := password[len(password)-1]; password[0] {
	case '$':
		return bytes.HasPrefix(password, []byte("${")) || bytes.Equal(password, bytes.ToUpper(password))
	case '<':
		return last == '>'
	case '{':
		return last == '}'
	case '%':
		return len(password) <= 2
	}
	return false
}

// credentials finds the credentials after the word Bearer or Basic, as in an Authorization header. i is the blank after
// the word.
func credentials(text []byte, i int) (from, to int) {
	start := back(text, i, len("bearer"), alphanumeric)
	scheme, before := text[start:i], byteAt(text, start-1)
	if before == ' ' {
		before = byteAt(text, start-2)
	}
	if !isScheme(scheme) || !oneOf(":=\"'`\n", before) {
		return 0, 0
	}
	from = while(text, i, func(c byte) bool { return c == ' ' })
	to = while(text, from, func(c byte) bool { return tokenByte(c) || oneOf(".~+/=", c) })
	token, after := string(text[from:to]), byteAt(text, to)
	if strings.HasSuffix(token, "=") && after == '"' { // a parameter such as realm="x"
		return 0, 0
	}
	if len(scheme) == len("basic") {
		pair, _ := base64.RawStdEncoding.DecodeString(strings.TrimRight(token, "="))
		return from, choose(bytes.IndexByte(pair, ':') >= 0, to)
	}
	words := []string{"", "auth", "authentication", "authorization", "scheme", "token", "tokens"}
	return from, choose(looksRandom([]byte(token)) || after != ' ' && !slices.Contains(words, token), to)
}

// back returns the start of the longest run of bytes before i for which is is true, or i if the run is longer than
// most.
func back(text []byte, i, most int, is func(c byte) bool) int {
	start := i
	for start > 0 && i-start <= most && is(text[start-1]) {
		start--
	}
	if i-start > most {
		return i
	}
	return start
}

// byteAt returns the byte at i, or a line feed before and after the text.
func byteAt(text []byte, i int) byte {
	if i < 0 || i >= len(text) {
		return '\n'
	}
	return text[i]
}

// oneOf reports whether all contains c.
func oneOf(all string, c byte) bool { return strings.IndexByte(all, c) >= 0 }

// while returns the end of the run of bytes from i for which is is true.
func while(text []byte, i int, is func(c byte) bool) int {
	for i < len(text) && is(text[i]) {
		i++
	}
	return i
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func alphanumeric(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || digit(c) }

func wordOnly(c byte) bool { return alphanumeric(c) || c == '_' }

// tokenByte reports whether c belongs to the alphabet of URL-safe Base64.
func tokenByte(c byte) bool { return wordOnly(c) || c == '-' }

// nested reports whether text is JSON that contains a secret.
func nested(text []byte) bool {
	trimmed := bytes.TrimSpace(text)
	if len(trimmed) < 2 || trimmed[0] != '{' && trimmed[0] != '[' {
		return false
	}
	if scan.Valid(trimmed, wire.DefaultMaxDepth) != nil {
		return false
	}
	n := Numbering{}
	_ = n.value(nil, trimmed, false)
	return n.Last > 0
}
