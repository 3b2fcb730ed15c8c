package player

import (
	"slices"
	"strings"
	"testing"

	"rpcx/wire/testkit"
)

// After the client has ended a stream or closed, the stream's items and later messages may be missing, and the client does not wait
// for them. Items before that must not be missing.
func TestLateItems(t *testing.T) {
	const tape = `
		> {"jsonrpc":"2.0","id":1,"method":"ticks_subscribe"}
		< {"jsonrpc":"2.0","id":1,"result":"s_11"}
		< {"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s_11","result":1}}
		> {"jsonrpc":"2.0","id":2,"method":"ticks_unsubscribe","params":["s_11"]}
		< {"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s_11","result":2}}
		< {"jsonrpc":"2.0","id":2,"result":true}
		< {"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s_11","result":3}}
		> {"jsonrpc":"2.0","id":3,"method":"get"}
		< {"jsonrpc":"2.0","id":3,"result":7}
		{"dir":"send","close":{"clean":true}}
		< {"jsonrpc":"2.0","method":"other","params":[1]}`
	item := func(n string) string {
		return `{"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s_29","result":` + n + `}}`
	}
	for _, test := range []struct {
		name   string
		before string // the item before the end, or ""
		late   bool
		found  string
	}{
		{"absent", item("1"), false, ""},
		{"there", item("1"), true, ""},
		{"before the end", "", true, `missing 4  {"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s_11","result":1}}  ` + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := client(t, tape, Options{}, func(p peer) {
				p.hear(`{"jsonrpc":"2.0","id":1,"method":"ticks_subscribe"}`)
				p.say(`{"jsonrpc":"2.0","id":1,"result":"s_29"}`)
				if test.before != "" {
					p.say(test.before)
				}
				p.hear(`{"jsonrpc":"2.0","id":2,"method":"ticks_unsubscribe","params":["s_29"]}`)
				if test.late {
					p.say(item("2"))
				}
				p.say(`{"jsonrpc":"2.0","id":2,"result":true}`)
				p.hear(`{"jsonrpc":"2.0","id":3,"method":"get"}`)
				p.say(`{"jsonrpc":"2.0","id":3,"result":7}`)
			})
			testkit.Expect(t, "differences", texts(told(r)), test.found)
		})
	}
	short := strings.Join(slices.DeleteFunc(strings.Split(tape, "\n"), func(l string) bool {
		return strings.Contains(l, `"other"`) || strings.Contains(l, `"result":3}}`)
	}), "\n")
	for _, pair := range [][2]string{{tape, short}, {short, tape}} {
		found, err := Diff(read(t, pair[0]), read(t, pair[1]), Options{})
		if err != nil || len(found) > 0 {
			t.Error(texts(told(found)), err)
		}
	}
}

// POSTs of several clients can share ids. A response goes to its own request, and a request without a recorded response is extra.
func TestSameIDs(t *testing.T) {
	const tape = `
		> {"jsonrpc":"2.0","id":1,"method":"first"}
		> {"jsonrpc":"2.0","id":1,"method":"second"}
		< {"jsonrpc":"2.0","id":1,"result":2}`
	r := client(t, tape, Options{}, func(p peer) {
		p.hear(`{"jsonrpc":"2.0","id":1,"method":"first"}`)
		p.hear(`{"jsonrpc":"2.0","id":1000001,"method":"second"}`)
		p.say(`{"jsonrpc":"2.0","id":1000001,"result":2}`)
		p.say(`{"jsonrpc":"2.0","id":1,"result":9}`)
	})
	found := told(r)
	if len(found) != 1 || found[0].Kind != "extra" || found[0].Line != 2 || found[0].Method != "first" {
		t.Error(texts(found))
	}
}
