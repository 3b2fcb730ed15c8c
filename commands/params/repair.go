package params

import (
	"errors"
	"regexp"
	"strings"
	"sync"
)

// The slips in what was meant to be an object or an array: a word or a key without its
// quotes, single quotes, a comma before the end.
var slips = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^'"\\]*'|,\s*[\]}]|[^\s"'{}\[\]:,]+`)
})

// repaired returns text, which begins an object or an array and is no JSON, with its
// slips mended; false where that is no JSON either. Numbers and constants stay
// what they are.
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

// looksStructured reports whether text was meant to be an object or an array.
func looksStructured(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && (text[0] == '{' || text[0] == '[')
}

// accepted returns args where Parse takes them, else the words that it proposes in their
// place; nil where it knows none.
func (p *parser) accepted(args []string) []string {
	o := p.o
	o.Stdin = nil // which is read once
	_, err := Parse(p.ctx, args, o)
	var better *ArgError
	switch {
	case err == nil:
		return args
	case errors.As(err, &better):
		return better.Args
	}
	return nil
}
