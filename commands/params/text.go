package params

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
)

// fault returns a usage Fault about one word.
func fault(message, arg, hint string) *wire.Fault {
	return &wire.Fault{Kind: wire.Usage, Message: message, Hint: hint, Err: &ArgError{Arg: arg}}
}

// oneValue returns the only JSON value in b, on one line.
func oneValue(b []byte) (json.RawMessage, error) {
	if len(strings.TrimSpace(string(b))) == 0 {
		return nil, errors.New("it is empty")
	}
	if err := scan.Valid(b, wire.DefaultMaxDepth); err != nil {
		return nil, place(b, err)
	}
	if !utf8.Valid(b) {
		return nil, errors.New("not UTF-8")
	}
	start := scan.Skip(b, 0)
	end, err := scan.Value(b, start, wire.DefaultMaxDepth)
	if err != nil {
		return nil, err
	}
	return scan.Compact(nil, b[start:end]), nil
}

// place adds line and column to an error in text of several lines.
func place(b []byte, err error) error {
	var se *scan.Error
	if !errors.As(err, &se) || !strings.Contains(strings.TrimSpace(string(b)), "\n") {
		return err
	}
	before := string(b[:min(max(se.Offset, 0), len(b))])
	return fmt.Errorf("line %d, column %d: %s", 1+strings.Count(before, "\n"), len(before)-strings.LastIndexByte(before, '\n'), se.What)
}

// A step is one part of a key.
type step struct {
	name string // the name of a property
	more bool   // another element of an array, written []
}

// parsePath splits a key into steps. a.b nests, a[] appends, and \. and \[ are literal.
func parsePath(key string) ([]step, error) {
	p := pathParser{key: key}
	for i := 0; i < len(key); i++ {
		c := key[i]
		switch {
		case c == '.':
			if err := p.endName(); err != nil {
				return nil, err
			}
			p.appended = false
			continue
		case c == '[':
			if i+1 >= len(key) || key[i+1] != ']' {
				return nil, fmt.Errorf(`in the key %s only [] may follow a name; \[ is a literal bracket`, strconv.Quote(key))
			}
			if err := p.endName(); err != nil {
				return nil, err
			}
			i++
			p.path, p.appended = append(p.path, step{more: true}), true
			continue
		case c == '\\' && i+1 < len(key) && (key[i+1] == '.' || key[i+1] == '['):
			i++
			c = key[i]
		}
		if p.appended {
			return nil, fmt.Errorf("in the key %s a dot must follow []", strconv.Quote(key))
		}
		p.name = append(p.name, c)
	}
	err := p.endName()
	return p.path, err
}

// A pathParser is the state of parsePath.
type pathParser struct {
	key      string
	path     []step
	name     []byte // of the current step
	appended bool   // the last step was []
}

// endName ends the name of a step. A name may be empty only after [].
func (p *pathParser) endName() error {
	if len(p.name) == 0 && !p.appended {
		return fmt.Errorf("the key %s has an empty name", strconv.Quote(p.key))
	}
	if len(p.name) > 0 {
		p.path = append(p.path, step{name: string(p.name)})
	}
	p.name = nil
	return nil
}

// names returns a path in the form for a Typer.
func names(path []step) []string {
	list := make([]string, len(path))
	for i, s := range path {
		list[i] = s.name
		if s.more {
			list[i] = schema.Append
		}
	}
	return list
}

// clip quotes a redacted and shortened word for a message.
func clip(word string) string {
	word = Shown(word)
	if len(word) > 80 {
		word = strings.ToValidUTF8(word[:80], "") + "…"
	}
	return strconv.Quote(word)
}

func source(name string) string {
	if name == "-" {
		return "stdin"
	}
	return name
}

// Shown returns word with its secrets redacted.
func Shown(word string) string {
	if key, op, value := splitKey(word); op != "" {
		if redact.SecretName(key) {
			return key + op + "…"
		}
		return key + op + string(redact.JSON([]byte(value)))
	}
	return string(redact.JSON([]byte(word)))
}
