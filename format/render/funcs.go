package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"math/big"
	"net/url"
	"strconv"
	"strings"
)

// function is a function of templates: how many arguments it takes (most < 0:
// any number) and what it does.
type function struct {
	least, most int
	call        func(args []any) (any, error)
}

// functions are Go's own, but for call, and json, quote (for sh), upper, lower,
// join SEPARATOR LIST, trim, split SEPARATOR TEXT and default VALUE X. The
// parser only looks at the names.
var functions = map[string]any{
	"and": function{1, -1, last}, "or": function{1, -1, last},
	"not": function{1, 1, func(a []any) (any, error) { return !truth(a[0]), nil }},
	"eq":  function{2, -1, eq},
	"ne":  function{2, 2, func(a []any) (any, error) { return !equal(a[0], a[1]), nil }},
	"lt":  order(func(c int) bool { return c < 0 }),
	"le":  order(func(c int) bool { return c <= 0 }),
	"gt":  order(func(c int) bool { return c > 0 }),
	"ge":  order(func(c int) bool { return c >= 0 }),

	"len": function{1, 1, length}, "index": function{1, -1, index}, "slice": function{1, 3, slice},

	"print":   function{0, -1, func(a []any) (any, error) { return fmt.Sprint(shown(a)...), nil }},
	"println": function{0, -1, func(a []any) (any, error) { return fmt.Sprintln(shown(a)...), nil }},
	"printf":  function{1, -1, printf},

	"html":     text(html.EscapeString),
	"js":       text(js),
	"urlquery": text(url.QueryEscape),
	"quote":    text(quote),
	"upper":    text(strings.ToUpper),
	"lower":    text(strings.ToLower),
	"trim":     text(strings.TrimSpace),
	"json":     function{1, 1, func(a []any) (any, error) { return string(marshal(a[0])), nil }},
	"join":     function{2, 2, join},
	"split":    function{2, 2, split},
	"default":  function{2, 2, orDefault},
}

func call(name string, args []any) (any, error) {
	f, _ := functions[name].(function)
	if f.call == nil {
		return nil, errors.New("no such function")
	}
	if len(args) < f.least || f.most >= 0 && len(args) > f.most {
		return nil, fmt.Errorf("wrong number of arguments: %d", len(args))
	}
	return f.call(args)
}

func last(a []any) (any, error) { return a[len(a)-1], nil }

func eq(a []any) (any, error) {
	for _, b := range a[1:] {
		if equal(a[0], b) {
			return true, nil
		}
	}
	return false, nil
}

func order(want func(int) bool) function {
	return function{2, 2, func(a []any) (any, error) {
		c, err := compare(a[0], a[1])
		return err == nil && want(c), err
	}}
}

// text is a function of one text; of several arguments print makes one.
func text(f func(string) string) function {
	return function{1, -1, func(a []any) (any, error) {
		if s, ok := a[0].(string); ok && len(a) == 1 {
			return f(s), nil
		}
		return f(fmt.Sprint(shown(a)...)), nil
	}}
}

func length(a []any) (any, error) {
	switch v := a[0].(type) {
	case nil:
		return number(0), nil
	case string:
		return number(len(v)), nil
	case []any:
		return number(len(v)), nil
	case map[string]any:
		return number(len(v)), nil
	}
	return nil, fmt.Errorf("%s has no length", kind(a[0]))
}

func index(a []any) (any, error) {
	v := a[0]
	for _, key := range a[1:] {
		switch in := v.(type) {
		case nil:
			return nil, nil
		case map[string]any:
			name, ok := key.(string)
			if !ok {
				return nil, fmt.Errorf("the key of an object is a string, not %s", kind(key))
			}
			v = in[name]
		case []any:
			i, err := integer(key)
			if err != nil {
				return nil, err
			}
			if i < 0 || i >= len(in) {
				return nil, fmt.Errorf("index %d is out of range: the array has %d", i, len(in))
			}
			v = in[i]
		default:
			return nil, fmt.Errorf("cannot index %s", kind(v))
		}
	}
	return v, nil
}

func slice(a []any) (any, error) {
	size := 0
	switch v := a[0].(type) {
	case string:
		size = len(v)
	case []any:
		size = len(v)
	default:
		return nil, fmt.Errorf("cannot slice %s", kind(a[0]))
	}
	bounds := []int{0, size}
	for n, key := range a[1:] {
		i, err := integer(key)
		if err != nil {
			return nil, err
		}
		bounds[n] = i
	}
	if bounds[0] < 0 || bounds[0] > bounds[1] || bounds[1] > size {
		return nil, fmt.Errorf("slice [%d:%d] is out of range: the length is %d", bounds[0], bounds[1], size)
	}
	if s, ok := a[0].(string); ok {
		return s[bounds[0]:bounds[1]], nil
	}
	return a[0].([]any)[bounds[0]:bounds[1]], nil
}

func printf(a []any) (any, error) {
	format, ok := a[0].(string)
	if !ok {
		return nil, fmt.Errorf("the format is a string, not %s", kind(a[0]))
	}
	return fmt.Sprintf(format, shown(a[1:])...), nil
}

func join(a []any) (any, error) {
	sep, ok := a[0].(string)
	list, isList := a[1].([]any)
	if !ok || !isList && a[1] != nil {
		return nil, errors.New("join takes a separator and an array")
	}
	var b []byte
	for i, v := range list {
		if i > 0 {
			b = append(b, sep...)
		}
		b = appendText(b, v)
	}
	return string(b), nil
}

func split(a []any) (any, error) {
	sep, ok := a[0].(string)
	s, isText := a[1].(string)
	if !ok || !isText {
		return nil, errors.New("split takes a separator and a text")
	}
	parts := []any{}
	for part := range strings.SplitSeq(s, sep) {
		parts = append(parts, part)
	}
	return parts, nil
}

func orDefault(a []any) (any, error) {
	if truth(a[1]) {
		return a[1], nil
	}
	return a[0], nil
}

func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// js is a text inside a string of JavaScript.
func js(s string) string {
	b := marshal(s)
	return jsEscapes.Replace(string(b[1 : len(b)-1]))
}

var jsEscapes = strings.NewReplacer(`'`, `\'`, `<`, `\u003C`, `>`, `\u003E`, `&`, `\u0026`, `=`, `\u003D`)

func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// appendText appends a value as an action prints it.
func appendText(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "<no value>"...)
	case string:
		return append(b, v...)
	case bool:
		return strconv.AppendBool(b, v)
	case json.Number:
		return append(b, v...)
	}
	return append(b, marshal(v)...)
}

func integer(v any) (int, error) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, fmt.Errorf("a number is wanted, not %s", kind(v))
	}
	i, err := strconv.Atoi(string(n))
	if err != nil {
		return 0, fmt.Errorf("%s is no index", n)
	}
	return i, nil
}

// bigInt is n as an integer, where it is written as one.
func bigInt(n json.Number) (*big.Int, bool) {
	if len(n) > 4096 {
		return nil, false
	}
	return new(big.Int).SetString(string(n), 10)
}
