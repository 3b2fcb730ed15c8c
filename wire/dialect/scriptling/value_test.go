package scriptling

import (
	"bytes"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// both has JSON texts and their Values.
var both = []struct{ plain, value string }{
	{`null`, `{"type":"null"}`},
	{`true`, `{"type":"bool","value":true}`},
	{`false`, `{"type":"bool","value":false}`},
	{`42`, `{"type":"int","value":42}`},
	{`0`, `{"type":"int","value":0}`},
	{`9007199254740993`, `{"type":"int","value":9007199254740993}`},
	{`-123456789012345678901234567890`, `{"type":"int","value":-123456789012345678901234567890}`},
	{`3.14`, `{"type":"float","value":3.14}`},
	{`3.0`, `{"type":"float","value":3.0}`},
	{`-0.0`, `{"type":"float","value":-0.0}`},
	{`1e5`, `{"type":"float","value":1e5}`},
	{`""`, `{"type":"string","value":""}`},
	{`"h\u00e9\n"`, `{"type":"string","value":"h\u00e9\n"}`},
	{`[]`, `{"type":"list","items":[]}`},
	{`[1,[2]]`, `{"type":"list","items":[{"type":"int","value":1},{"type":"list","items":[{"type":"int","value":2}]}]}`},
	{`{}`, `{"type":"dict","entries":{}}`},
	{`{"name":"Ada","age":30}`, `{"type":"dict","entries":{"name":{"type":"string","value":"Ada"},"age":{"type":"int","value":30}}}`},
	{`{"$callback":"cb-1"}`, `{"type":"callback","callback":{"id":"cb-1"}}`},
	{
		`{"$remote":{"library":"hello","class":"Config","id":"1"}}`,
		`{"type":"remote","remote":{"library":"hello","class":"Config","id":"1"}}`,
	},
	{`{"$other":1}`, `{"type":"dict","entries":{"$other":{"type":"int","value":1}}}`},
	{
		`{"$callback":"a","b":1}`,
		`{"type":"dict","entries":{"$callback":{"type":"string","value":"a"},"b":{"type":"int","value":1}}}`,
	},
}

func TestValuesBothWays(t *testing.T) {
	for _, c := range both {
		got, err := encoder{}.value(nil, []byte(c.plain), "")
		if err != nil || string(got) != c.value {
			t.Errorf("the Value of %s is %s, %v", c.plain, got, err)
		}
		back, err := plain(nil, []byte(c.value))
		if err != nil || string(back) != c.plain {
			t.Errorf("%s stands for %s, %v", c.value, back, err)
		}
	}
}

// In values from other implementations, the tag decides, and missing members count as empty.
func TestValuesOfOthers(t *testing.T) {
	for value, want := range map[string]string{
		`{"type":"float","value":3}`:                 `3.0`,
		`{"type":"float","value":-0}`:                `-0.0`,
		`{"type":"float","value":"x"}`:               `0.0`,
		`{"type":"int","value":3.0}`:                 `3`,
		`{"type":"int","value":2.9}`:                 `2`,
		`{"type":"int","value":-2.9}`:                `-2`,
		`{"type":"int","value":12e3}`:                `12000`,
		`{"type":"int","value":"42"}`:                `0`,
		`{"type":"int","value":null}`:                `0`,
		`{"type":"int"}`:                             `0`,
		`{"type":"list"}`:                            `[]`,
		`{"type":"dict"}`:                            `{}`,
		`{"type":"list","items":null}`:               `[]`,
		`{"type":"dict","entries":null}`:             `{}`,
		`{}`:                                         `null`,
		`null`:                                       `null`,
		`{"type":""}`:                                `null`,
		`{"type":null}`:                              `null`,
		`{"value":7}`:                                `null`,
		`{"type":"remote","remote":{"id":"7"}}`:      `{"$remote":{"library":"","class":"","id":"7"}}`,
		`{"type":"list","items":[{},null]}`:          `[null,null]`,
		`{"value":1,"extra":[1],"type":"int"}`:       `1`,
		`{"type":"string","value":"a","items":[1]}`:  `"a"`,
		`{"type":"dict","entries":{"a\"b":{}}}`:      `{"a\"b":null}`,
		`{"type":"callback","callback":{"id":"\n"}}`: `{"$callback":"\n"}`,
	} {
		if got, err := plain(nil, []byte(value)); err != nil || string(got) != want {
			t.Errorf("%s decodes to %s, %v; want %s", value, got, err, want)
		}
	}
}

func TestBadValues(t *testing.T) {
	for value, want := range map[string]string{
		`42`:                                     "42 is not a transport value",
		`[1]`:                                    "[1] is not a transport value",
		`{"type":"INT","value":1}`:               `unsupported transport value type "INT"`,
		`{"type":"tuple"}`:                       `unsupported transport value type "tuple"`,
		`{"type":5}`:                             "the type of a transport value is 5",
		`{"type":"bool","value":"true"}`:         `type bool contains "true"`,
		`{"type":"bool","value":null}`:           "type bool contains null",
		`{"type":"string","value":1}`:            "type string contains 1",
		`{"type":"string"}`:                      "type string contains nothing",
		`{"type":"list","items":{}}`:             "a list of transport values must not be {}",
		`{"type":"dict","entries":[]}`:           "named transport values must not be []",
		`{"type":"list","items":[3]}`:            "3 is not a transport value",
		`{"type":"callback","callback":{}}`:      "type callback contains {}",
		`{"type":"remote","remote":{"id":7}}`:    "type remote contains",
		`{"type":"int","value":1e999999999}`:     "out of range",
		`{"type":"int","value":1e1001}`:          "out of range",
		`{"type":"int","value":1e-1001}`:         "out of range",
		`{"type":"int","value":1e-999999999999}`: "out of range",
	} {
		if got, err := plain(nil, []byte(value)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s stands for %s, %v", value, got, err)
		}
	}
	for _, doubtful := range []string{`{"$remote":1}`, `{"$remote":{"id":1}}`, `{"$callback":{}}`, `[{"$callback":null}]`} {
		_, err := encoder{}.value(nil, []byte(doubtful), "")
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Usage || !strings.Contains(f.Hint, "--values") {
			t.Errorf("%s: %v", doubtful, err)
		}
	}
}

// FuzzPlain checks that Plain accepts any JSON and returns JSON.
func FuzzPlain(f *testing.F) {
	for _, c := range both {
		f.Add([]byte(c.value))
	}
	f.Add([]byte(`{"type":"int","value":1e-400}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if scan.Valid(b, wire.DefaultMaxDepth) != nil {
			return
		}
		out, err := plain(nil, scan.Trim(b))
		if err == nil && scan.Valid(out, wire.DefaultMaxDepth) != nil {
			t.Fatalf("%s stands for %q", b, out)
		}
	})
}

// FuzzValue checks that writing and reading does not change a Value.
func FuzzValue(f *testing.F) {
	for _, c := range both {
		f.Add([]byte(c.plain))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if scan.Valid(b, 100) != nil {
			return
		}
		value, err := encoder{}.value(nil, scan.Trim(b), "")
		if err != nil {
			return
		}
		back, err := plain(nil, value)
		if err != nil {
			t.Fatalf("%s is %s: %v", b, value, err)
		}
		again, err := encoder{}.value(nil, back, "")
		if err != nil || !bytes.Equal(again, value) && !bytes.Contains(b, []byte("$remote")) && !bytes.ContainsRune(b, '\\') {
			t.Fatalf("%s is encoded as %s, which decodes to %s", b, value, back)
		}
	})
}

// The largest exponents of integers are accepted.
func TestLongIntegers(t *testing.T) {
	for val, want := range map[string]string{"1e1000": "1" + strings.Repeat("0", 1000), "1e-1000": "0"} {
		if got, err := plainInt(nil, []byte(val)); string(got) != want || err != nil {
			t.Errorf("%s: %.20s, %v", val, got, err)
		}
	}
}
