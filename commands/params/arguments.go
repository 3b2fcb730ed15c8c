package params

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Arguments are a `plugin` command's positional and named arguments.
type Arguments struct {
	Args   json.RawMessage   // an array, or nil
	Kwargs json.RawMessage   // an object, or nil
	Funcs  map[string]string // the names of hooks by JSON pointers into {"args","kwargs"}, where the values are null
}

// ParseArguments parses words as `plugin` does. KEY OP VALUE is a named argument. Any other word is a positional one:
// JSON if valid, else a string. =TEXT is always a string, :=JSON always JSON, and @on=NAME a local function. Errors are
// usage Faults.
func ParseArguments(words []string, o Options) (Arguments, error) {
	p := &parser{ctx: context.Background(), args: words, o: o} // no schema applies
	var a Arguments
	var list []json.RawMessage
	for i, word := range words {
		if IsKeyOp(word) {
			if err := p.readKey(i); err != nil {
				return a, err
			}
			continue
		}
		v, hook, err := Argument(word)
		if err != nil {
			return a, err
		}
		if hook != "" {
			wire.Put(&a.Funcs, fmt.Sprintf("/args/%d", len(list)), hook)
		}
		list = append(list, v)
	}
	if list != nil {
		a.Args = scan.ArrayOf(list...)
	}
	a.Kwargs = p.params.json()
	for at, hook := range p.funcs {
		wire.Put(&a.Funcs, "/kwargs"+at, hook)
	}
	return a, nil
}

// Argument parses one positional argument. hook is the NAME of @on=NAME, or "" for a value.
func Argument(word string) (value json.RawMessage, hook string, err error) {
	if !utf8.ValidString(word) {
		return nil, "", fault("argument "+clip(word)+" is not UTF-8", word, "")
	}
	if name, ok := strings.CutPrefix(word, "@on="); ok {
		if name == "" {
			return nil, "", fault("argument "+clip(word)+" names no hook", word, "write @on=NAME with --on NAME=…")
		}
		return json.RawMessage("null"), name, nil
	}
	if text, ok := strings.CutPrefix(word, "="); ok {
		return scan.AppendQuoted(nil, text), "", nil
	}
	if text, ok := strings.CutPrefix(word, ":="); ok {
		v, err := oneValue([]byte(text))
		if err != nil {
			return nil, "", fault(fmt.Sprintf("argument %s is not JSON (%v)", clip(word), err), word,
				"write "+wire.Quote("="+text)+" for text")
		}
		return v, "", nil
	}
	if v, err := oneValue([]byte(word)); err == nil {
		return v, "", nil
	}
	return scan.AppendQuoted(nil, word), "", nil
}

// Positional converts an object of params to an array of its values, in the order of the names in t's schema, with null
// in gaps. If the schema lacks some names, the values keep their order. Other params stay unchanged.
func Positional(params json.RawMessage, t *Typer) json.RawMessage {
	if scan.Type(params) != 'o' {
		return params
	}
	place := map[string]int{}
	if t != nil {
		for i, name := range t.Properties() {
			place[name] = i
		}
	}
	var given, own []json.RawMessage
	known := true
	for key, val := range scan.Members(params) {
		own = append(own, val)
		i, found := place[scan.Key(key)]
		if !found {
			known = false
			continue
		}
		for len(given) <= i {
			given = append(given, json.RawMessage("null"))
		}
		given[i] = val
	}
	if known {
		return scan.ArrayOf(given...)
	}
	return scan.ArrayOf(own...)
}
