package params

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// constants maps constants of other languages to JSON's.
var constants = map[string]string{"True": "true", "False": "false", "None": "null", "nil": "null", "undefined": "null"}

// oneWord is the hint for words that rejoined joins.
const oneWord = "KEY=VALUE or JSON must be a single word: quote it for the shell"

// rejoined joins words of args that the shell has split: JSON with blanks ("[1, 2]"), and a key and its value ("id =
// x", "id= x", "id =x", "id: x"). It returns nil if there are none. Each such word alone would be an error.
func rejoined(args []string) []string {
	for i := range args {
		if n, whole := joinedJSON(args[i:]); n > 1 {
			return slices.Concat(args[:i], []string{whole}, args[i+n:])
		}
		if n, whole := joinedPair(args[i:]); n > 1 {
			return slices.Concat(args[:i], []string{whole}, args[i+n:])
		}
	}
	return nil
}

// joinedJSON returns how many words form one JSON object or array, and these words joined.
func joinedJSON(words []string) (n int, whole string) {
	key, op, value := splitKey(words[0])
	if op != "" && op != ":=" || !looksStructured(value) {
		return 0, ""
	}
	for n = 2; n <= len(words); n++ {
		text := strings.Join(append([]string{value}, words[1:n]...), " ")
		if _, err := oneValue([]byte(text)); err == nil {
			return n, key + op + text
		}
		if better, ok := repaired(text); ok && n == len(words) {
			return n, key + op + better
		}
	}
	return 0, ""
}

// joinedPair returns how many words form a key, an operator and a value, and these words joined.
func joinedPair(words []string) (n int, whole string) {
	if len(words) < 2 {
		return 0, ""
	}
	for _, end := range []string{"=", ":"} { // the end of the key
		if key, ok := strings.CutSuffix(words[0], end); ok && isName(key) && isValue(words[1]) {
			return 2, key + "=" + words[1]
		}
	}
	value, ok := strings.CutPrefix(words[1], "=")
	switch {
	case !ok || !isName(words[0]):
	case isValue(value):
		return 2, words[0] + "=" + value
	case value == "" && len(words) > 2 && isValue(words[2]):
		return 3, words[0] + "=" + words[2]
	}
	return 0, ""
}

// isValue reports whether a word can be the value of the key before it.
func isValue(word string) bool {
	return word != "" && !IsKeyOp(word) && word[0] != '=' && word[0] != '-' && !looksStructured(word)
}

// name matches a word that can be a key.
var name = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_$][\w.\[\]-]*$`) })

func isName(word string) bool { return name().MatchString(word) }

// unclear describes the possible meanings of a bare word that is not JSON. It returns "" if the word can only be a
// string.
func unclear(word string) string {
	text := wire.Quote(string(scan.AppendQuoted(nil, word)))
	key, _, pair := strings.Cut(word, "=")
	named, after, colon := strings.Cut(word, ":")
	switch {
	case word == "":
		return "a shell variable may be unset; " + text + " is the empty string"
	case word[0] == '@' && len(word) > 1 && !pair:
		return "- reads the params from stdin (- < " + wire.Quote(word[1:]) + "); " + text + " is a string"
	case pair && key != "":
		return text + " is a string; " + wire.Quote("{"+string(scan.AppendQuoted(nil, key))+":…}") + " has this key"
	case word[0] == '=' || word[0] == '.' && len(word) > 1:
		return text + " is a string"
	case colon && isName(named) && after != "" && !strings.HasPrefix(after, "//"):
		return "did you mean " + wire.Quote(Shown(named+"="+strings.TrimSpace(after))) + "? " + text + " is a string"
	}
	return ""
}

// meantBy returns the probable JSON, a constant or a string, for a bare word or a value after :=. It returns false if
// the meaning is unclear.
func meantBy(op, text string) (value string, ok bool) {
	quoted := string(scan.AppendQuoted(nil, text))
	switch {
	case looksStructured(text):
		return "", false
	case op == ":=" && constants[text] != "":
		return constants[text], true
	case op == ":=": // a string is not empty, as an unset variable would be, and does not begin like a number
		return quoted, text != "" && !strings.ContainsRune("+-.0123456789", rune(text[0]))
	}
	return quoted, op != "" || unclear(text) == ""
}

// slips matches the strings in an object or array, and what repaired corrects there: a word or a key without quotes,
// single quotes, and a comma before the end.
var slips = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^'"\\]*'|,\s*[\]}]|[^\s"'{}\[\]:,]+`)
})

// repaired corrects the slips in text, which begins an object or array and is not JSON. It returns false if the result
// is not JSON. Numbers and constants stay unchanged.
func repaired(text string) (string, bool) {
	if !looksStructured(text) {
		return "", false
	}
	better := slips().ReplaceAllStringFunc(text, func(word string) string {
		switch {
		case word[0] == '"':
			return word
		case word[0] == '\'':
			return `"` + word[1:len(word)-1] + `"`
		case word[0] == ',':
			return word[len(word)-1:]
		}
		if constant := constants[word]; constant != "" {
			return constant
		}
		if _, err := oneValue([]byte(word)); err == nil {
			return word
		}
		return `"` + strings.ReplaceAll(word, `\`, `\\`) + `"`
	})
	_, err := oneValue([]byte(better))
	return better, err == nil
}

// looksStructured reports whether text looks like an object or an array.
func looksStructured(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && (text[0] == '{' || text[0] == '[')
}

// accepted returns args if Parse accepts them, or their correction, or nil.
func (p *parser) accepted(args []string) []string {
	o := p.o
	o.Stdin = nil // stdin can be read only once
	_, err := Parse(p.ctx, args, o)
	switch better, ok := errors.AsType[*ArgError](err); {
	case err == nil:
		return args
	case ok:
		return better.Args
	}
	return nil
}
