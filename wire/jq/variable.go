package jq

import (
	"encoding/json"
	"strings"
)

// declared is a declared variable, with the parts of its value that a program reads.
type declared struct {
	name string
	need need
}

// used returns the variables in names that src may use.
func used(src string, names []string) (some []declared) {
	for _, name := range names {
		if strings.Contains(src, "$"+name) {
			some = append(some, declared{name, neededOfVariable(src, name)})
		}
	}
	return some
}

// Values returns the value of a declared variable for one run, as JSON. A nil result means null.
type Values func(name string) json.RawMessage

// IsPath reports whether p only follows a path in its input or in a declared variable. Such a program decodes nothing,
// and its output is a part of the input.
func (p *Program) IsPath() bool { return p.path != nil }

// Path returns the output of a program that only follows a path in its input, which must be in. The output may be a part
// of in. ok is false for other programs, and if the path causes an error.
func (p *Program) Path(in json.RawMessage) (out json.RawMessage, ok bool) {
	if p.path == nil || p.root != "" {
		return nil, false
	}
	part, _ := p.follow(in, nil)
	return compact(part), part != nil
}

// A runState is the state of a run: the values of the declared variables, and the texts of parts of the input.
type runState struct {
	vals Values
	source
}

// of returns the value of a declared variable.
func (vals Values) of(name string) json.RawMessage {
	if vals != nil {
		if v := vals(name); len(v) > 0 {
			return v
		}
	}
	return null
}
