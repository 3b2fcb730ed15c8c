package player

import (
	"strings"
	"testing"

	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
	"rpcx/wire/testkit"
)

// Update applies each difference where it belongs, on any connection and in any order.
func TestUpdate(t *testing.T) {
	in := `{"tape":1}
{"conn":1,"open":{}}
{"conn":2,"open":{}}
{"conn":3,"open":{}}
{"conn":1,"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a"}}
{"conn":2,"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"b"}}
{"conn":2,"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":{"x":1,"y":1}}}
{"conn":1,"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":{"x":2,"y":2}}}
{"conn":1,"dir":"recv","msg":{"jsonrpc":"2.0","method":"gone"}}
{"conn":2,"dir":"recv","match":".method == \"c\""}
`
	tr := load(t, []byte(in))
	extra := func(line int, entry int32, msg string) *Found {
		return &Found{Difference: match.Difference{Kind: match.Extra, Line: line}, entry: entry, msg: []byte(msg)}
	}
	differs := func(line int, entry int32, pointer, got string) *Found {
		return &Found{Difference: match.Difference{Kind: match.Differs, Line: line, Pointer: pointer, Want: []byte(`0`), Got: []byte(got)}, entry: entry}
	}
	one := []*Found{
		differs(8, 1, "/result/x", "3"),
		{Difference: match.Difference{Kind: match.Missing, Line: 9}, entry: 2},
		extra(9, 2, `{"n":1}`),
		extra(8, 1, `{"n":2}`),
		extra(9, 2, `not JSON`),
	}
	two := []*Found{
		differs(7, 1, "/result/x", "4"),
		differs(7, 1, "/result/y", "5"),
		differs(10, 2, "", "6"),
		extra(0, transcript.None, `{"n":3}`),
		extra(0, transcript.None, `{"n":4}`),
	}
	three := []*Found{
		extra(0, transcript.None, `{"n":5}`),
	}
	var out strings.Builder
	testkit.OK(t, Update(&out, tr, [][]*Found{one, two, three}))
	want := `{"tape":1}
{"t":0,"conn":1,"open":{}}
{"t":0,"conn":2,"open":{}}
{"t":0,"conn":3,"open":{}}
{"t":0,"conn":1,"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a"}}
{"t":0,"conn":2,"dir":"recv","msg":{"n":3}}
{"t":0,"conn":2,"dir":"recv","msg":{"n":4}}
{"t":0,"conn":2,"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"b"}}
{"t":0,"conn":2,"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":{"x":4,"y":5}}}
{"t":0,"conn":1,"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":{"x":3,"y":2}}}
{"t":0,"conn":1,"dir":"recv","msg":{"n":2}}
{"t":0,"conn":1,"dir":"recv","msg":{"n":1}}
{"t":0,"conn":1,"dir":"recv","text":"not JSON"}
{"t":0,"conn":2,"dir":"recv","match":".method == \"c\""}
{"t":0,"conn":3,"dir":"recv","msg":{"n":5}}
`
	testkit.Expect(t, "the tape", out.String(), want)
	out.Reset()
	if err := Update(&out, tr, [][]*Found{nil, nil, nil}); err != nil || strings.Count(out.String(), "\n") != strings.Count(in, "\n") {
		t.Errorf("%v, got\n%s", err, out.String())
	}
}
