package params

import (
	"errors"
	"regexp"
	"strings"
	"sync"
)

// These are the slips in an object or an array: a word or a key without quotes, single quotes, a comma before the end.
var slips = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^'"\\]*'|,\s*[\]}]|[^\s"'{}\[\]:,]+`)
})

// repaired corrects the slips of text, which starts an object or an array and is not JSON. It returns false if the
// result is not JSON either. Numbers and constants stay unchanged.
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

// accepted returns args if Parse accepts them, else their correction, or nil if there is none.
func (p *parser) accepted(args []string) []string {
	o := p.o
	o.Stdin = nil // stdin can be read only once
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
