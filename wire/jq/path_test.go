package jq

import (
	"context"
	"encoding/json"
	"testing"
)

// A path is followed in the text of a value: names in any spelling; the last of repeated members; elements from either end.
func TestPathIsFollowedInTheText(t *testing.T) {
	const in = `{"a":{"b":[1,{"c":1.50}]},"x":1,"\u0078":2,"\u0079":3,"x\\":4,"d":{"d":{"d":{"d":{"d":{"d":{"d":{"d":8}}}}}}},"n":null}`
	for src, want := range map[string]string{
		`.x`:                 `2`,
		`.y`:                 `3`,
		`.["x\\"]`:           `4`,
		`.z`:                 `null`,
		`.a.b[1].c`:          `1.50`,
		`.a.b[0]`:            `1`,
		`.a.b[2]`:            `null`,
		`.a.b[-1].c`:         `1.50`,
		`.a.b[-1].d`:         `null`,
		`.a.b[-2]`:           `1`,
		`.a.b[-3]`:           `null`,
		`.n.x.y`:             `null`,
		`.n[-1].x`:           `null`,
		`.d.d.d.d.d.d.d`:     `{"d":8}`,
		`.d.d.d.d.d.d.d.d`:   `8`,
		`.d.d.d.d.d.d.d.x`:   `null`,
		`.d.d.d.d.d.d.d.x.y`: `null`,
		`.d.d.d.d.d.d.d.d.d`: ``, // of a number: the program says what is wrong
		`.a[0]`:              ``,
		`.a.b.c`:             ``,
		`.a.b[-1].c.d`:       ``,
	} {
		p, err := Compile(src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, ok := path(p, json.RawMessage(in))
		if string(got) != want || ok != (want != "") {
			t.Errorf("%s: got %s, %v; want %s", src, got, ok, want)
		}
	}
	odd, err := Compile(`.[-1].a`, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`[{"a":1,"\u0062":2}]`:   `1`,
		`[{"a":1,"\u0061":2}]`:   `2`,
		"[{\"a\":1,\"\xff\":2}]": `1`,
		`[{"\u0061":2,"a":1}]`:   `1`,
	} {
		if got, ok := path(odd, json.RawMessage(in)); string(got) != want || !ok {
			t.Errorf("%q: got %s, %v; want %s", in, got, ok, want)
		}
	}
}

// path returns what a program that follows a path gives without gojq.
func path(p *Program, in json.RawMessage) (out []byte, ok bool) {
	outs, ok := p.Quick(context.Background(), in, &Scratch{})
	if !ok {
		return nil, false
	}
	return outs[0], true
}
