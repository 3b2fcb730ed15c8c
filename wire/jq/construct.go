package jq

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// literal returns the node of a value that does not depend on the input.
func literal(v any) *node {
	text, err := Encode(v)
	if err != nil {
		return nil
	}
	return &node{op: opConst, text: text}
}

// number returns the node of a number, with or without a minus.
func number(t *gojq.Term) *node {
	text := t.Number
	if t.Type == gojq.TermTypeUnary {
		if u := t.Unary; u.Op != gojq.OpSub || u.Term.Type != gojq.TermTypeNumber || len(u.Term.SuffixList) > 0 {
			return nil
		}
		text = t.Unary.Term.Number
	}
	if len(text) > 15 || strings.ContainsAny(text, "eE") { // gojq may not print it as it stands
		return nil
	}
	q := &gojq.Query{Term: &gojq.Term{Type: t.Type, Number: t.Number, Unary: t.Unary}}
	v, ok := q.Run(nil).Next()
	if _, failed := v.(error); !ok || failed {
		return nil
	}
	return literal(v)
}

// words returns the node of a string, with or without values in it.
func (c planner) words(s *gojq.String, in *node) *node {
	if s.Queries == nil {
		if !utf8.ValidString(s.Str) {
			return nil
		}
		return literal(s.Str)
	}
	var kids []*node
	for _, q := range s.Queries {
		kids = append(kids, c.value(q, in))
	}
	return of(opText, kids...)
}

// one returns the node of if … then … else … end.
func (c planner) one(f *gojq.If, in *node) *node {
	otherwise := in
	switch {
	case len(f.Elif) > 0:
		otherwise = c.one(&gojq.If{Cond: f.Elif[0].Cond, Then: f.Elif[0].Then, Elif: f.Elif[1:], Else: f.Else}, in)
	case f.Else != nil:
		otherwise = c.value(f.Else, in)
	}
	return of(opIf, c.value(f.Cond, in), c.value(f.Then, in), otherwise)
}

// array returns the node of an array that is made.
func (c planner) array(a *gojq.Array, in *node) *node {
	n := &node{op: opArray, body: &part{}, cost: 1}
	if a.Query != nil {
		n.body = c.pipe(a.Query, in, func(n *node) *part { return &part{kind: give, value: n} })
	}
	if n.body == nil {
		return nil
	}
	return n
}

// object returns the node of an object that is made, whose keys do not depend on the input.
func (c planner) object(o *gojq.Object, in *node) *node {
	type member struct {
		key string
		val *node
	}
	var all []member
	for _, kv := range o.KeyVals {
		key := kv.Key
		switch {
		case kv.KeyString != nil && kv.KeyString.Queries == nil && utf8.ValidString(kv.KeyString.Str):
			key = kv.KeyString.Str
		case key == "" || key[0] == '$': // it is computed, or a variable
			return nil
		}
		var val *node
		if kv.Val == nil {
			val = c.step(in, step{key: []byte(key)})
		} else {
			val = c.value(kv.Val, in)
		}
		if val == nil || slices.ContainsFunc(all, func(m member) bool { return m.key == key }) {
			return nil
		}
		all = append(all, member{key, val})
	}
	slices.SortFunc(all, func(a, b member) int { return strings.Compare(a.key, b.key) })
	var kids []*node
	var keys []string
	for i, m := range all {
		text, err := Encode(m.key)
		if err != nil {
			return nil
		}
		before := string(text) + ":"
		if i > 0 {
			before = "," + before
		}
		keys, kids = append(keys, before), append(kids, m.val)
	}
	n := of(opObject, kids...)
	if n != nil {
		n.keys = keys
	}
	return n
}
