package params

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

const shop = `{"catalog":1,"methods":[{"name":"list","params":{"type":"object","additionalProperties":false,"required":["id"],"properties":{
	"id":{"type":"string","examples":["o_001"]},"limit":{"type":"integer","minimum":1},"exact":{"type":"boolean"},
	"status":{"enum":["open","shipped"]},"ref":{"type":["string","integer"]},"price":{"$ref":"#/$defs/money"},
	"tags":{"type":"array","items":{"type":"integer"}},"to":{"type":"object","properties":{"zip":{"type":"integer"},"free":{},"[]":{"type":"integer"}}},
	"hex":{"anyOf":[{"type":"string","pattern":"^0x"},{"type":"integer"}]},"nothing":{"type":["null","integer"]},
	"level":{"enum":[1,2,3]},"short":{"type":"string","maxLength":2},"set":{"type":"object","oneOf":[{"properties":{"as":{"const":"n"},"to":{"type":"integer"}}},
		{"properties":{"as":{"const":"s"},"to":{"type":"string"}}}]}}}},{"name":"free"}],"$defs":{"money":{"type":"number"}}}`

// typerOf returns the Typer of a method in a catalog.
func typerOf(t testing.TB, text, method string) *Typer {
	t.Helper()
	c, err := catalog.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	typer, err := ForMethod(c, catalog.Conventions{}, method, func(w string) { t.Errorf("warning: %s", w) })
	if err != nil || typer == nil {
		t.Fatal(typer, err)
	}
	return typer
}

func typed(t testing.TB, nocheck bool, args ...string) (Result, error) {
	t.Helper()
	return Parse(context.Background(), args, Options{Typer: typerOf(t, shop, "list"), NoCheck: nocheck, ReadFile: files})
}

func TestTyping(t *testing.T) {
	for _, c := range []struct{ arg, want string }{
		{`limit=5`, `"limit":5`},
		{`limit=12345678901234567890`, `"limit":12345678901234567890`},
		{`limit=5.0`, `"limit":5.0`},
		{`exact=true`, `"exact":true`},
		{`status=open`, `"status":"open"`},
		{`ref=5`, `"ref":"5"`},
		{`ref:=5`, `"ref":5`},
		{`price=1.10`, `"price":1.10`},
		{`tags=[1,2]`, `"tags":[1,2]`},
		{`tags[]=7`, `"tags":[7]`},
		{`to.zip=40`, `"to":{"zip":40}`},
		{`to.\[]=40`, `"to":{"[]":40}`},
		{`to.free=5`, `"to":{"free":"5"}`},
		{`to={"zip":1}`, `"to":{"zip":1}`},
		{`hex=0x1f`, `"hex":"0x1f"`},
		{`hex=31`, `"hex":31`},
		{`nothing=null`, `"nothing":null`},
		{`level=2`, `"level":2`},
	} {
		r, err := typed(t, false, "id=o_001", c.arg)
		if want := `{"id":"o_001",` + c.want + `}`; err != nil || string(r.Params) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", c.arg, r.Params, err, want)
		}
	}
}

func TestTypedRefusals(t *testing.T) {
	for _, c := range []struct {
		args    []string
		message string
		hint    string
		better  string
	}{
		{[]string{`id=1`, `limit=many`}, `parameter "limit=many": /limit: got "many", want integer (schema rule "type"`, `--no-check`, ``},
		{[]string{`id=1`, `to.zip=04`}, `/to/zip: got "04", want integer`, ``, ``},
		{[]string{`id=1`, `limit=0`}, `params: /limit: 0 is less than 1 (schema rule "minimum"`, ``, ``},
		{[]string{`id=1`, `limti=5`}, `has no property "limti"; did you mean limit?`, ``, `{"id":"1","limit":5}`},
		{[]string{`id=1`, `statsu=open`}, `has no property "statsu"; did you mean status?`, ``, `{"id":"1","status":"open"}`},
		{[]string{`idd=1`}, `has no property "idd"; did you mean id?`, ``, `{"id":"1"}`},
		{[]string{`id=1`, `status=shiped`}, `/status: "shiped" is not one of "open", "shipped"; did you mean shipped?`, ``, `{"id":"1","status":"shipped"}`},
		{[]string{`id=1`, `exact=True`}, `/exact: got "True", want boolean; did you mean true?`, ``, ``},
		{[]string{`id=1`, `level=4`}, `/level: 4 is not one of 1, 2, 3`, ``, ``},
		{[]string{`{"id":"1","set":{"as":"n","to":"5"}}`}, `/set/to: got string, want integer`, ``, `{"id":"1","set":{"as":"n","to":5}}`},
		{[]string{`{"id":"1","set":{"as":"n","to":"many"}}`}, `/set/to: got string, want integer`, ``, ``},
		{[]string{`{"id":"1","set":{"as":"n","to":"\"5\""}}`}, `/set/to: got string, want integer`, ``, ``},
		{[]string{`id=1`, `short=123`}, `params: /short: has 3 characters, but can have at most 2 (schema rule "maxLength"`, ``, ``},
		{[]string{`id=1`, `short=[1]`}, `params: /short: has 3 characters`, ``, ``},
		{[]string{`id=1`, `set.as=n`, `set.to=many`}, `/set/to: got string, want integer`, ``, ``},
	} {
		_, err := typed(t, false, c.args...)
		f := wire.AsFault(err)
		if f == nil || f.Kind != wire.Usage || !strings.Contains(f.Message, c.message) || !strings.Contains(f.Hint, c.hint) {
			t.Errorf("%q:\n got %+v\nwant %s [%s]", c.args, err, c.message, c.hint)
			continue
		}
		var ae *ArgError
		if !errors.As(err, &ae) || strings.Join(ae.Args, " ") != c.better {
			t.Errorf("%q: proposes %q, want %q", c.args, ae.Args, c.better)
		}
	}
}

func TestPositionalParamsAreCheckedByOrder(t *testing.T) {
	if r, err := typed(t, false, `"o_001"`, `5`); err != nil || string(r.Params) != `["o_001",5]` {
		t.Errorf("got %s, %v", r.Params, err)
	}
}

// A schema cannot describe functions. rpcx checks all other values.
func TestParamsWithFunctionsAreChecked(t *testing.T) {
	typer := typerOf(t, `{"catalog":1,"methods":[{"name":"each","params":{"type":"object","required":["id","do"],"additionalProperties":false,
		"properties":{"id":{"type":"string"},"n":{"type":"integer"},"do":{"type":"string"},"all":{"type":"array","items":{"type":"string"}},
		"kind":{},"odd":{"anyOf":[{"type":"integer"},{"type":"array"}]},
		"to":{"oneOf":[{"required":["a"],"properties":{"a":{"required":["$fn"]}}},{"required":["b"]}]}}}}]}`, "each")
	for _, c := range []struct{ words, want string }{
		{"do@on=f id=1", `{"do":null,"id":"1"}`},
		{"do@on=f id=1 n=2 all[]=a all[]@on=g", `{"do":null,"id":"1","n":2,"all":["a",null]}`},
		{"do@on=f id=1 to.a@on=g", `{"do":null,"id":"1","to":{"a":null}}`},
		{"do@on=f id=1 odd=2 kind=n", `{"do":null,"id":"1","odd":2,"kind":"n"}`},
		{"do@on=f", `! params: lacks "id"`},
		{"do@on=f id=1 n:=1.5", `! params: /n: got number, want integer`},
		{"do@on=f id=1 m=2", `! params: has no property "m"`},
	} {
		r, err := Parse(context.Background(), strings.Fields(c.words), Options{Typer: typer, Funcs: true})
		got := string(r.Params)
		if err != nil {
			got = "! " + err.Error()
		}
		if got != c.want && !(c.want[0] == '!' && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s:\n got %s\nwant %s", c.words, got, c.want)
		}
	}
}

func TestNoCheckSendsStrings(t *testing.T) {
	r, err := typed(t, true, `limit=many`, `exact=true`, `zzz=1`, `tags[]=7`)
	if want := `{"limit":"many","exact":true,"zzz":"1","tags":[7]}`; err != nil || string(r.Params) != want {
		t.Errorf("got %s, %v, want %s", r.Params, err, want)
	}
}

func TestMethodsWithoutSchemaAreNotTyped(t *testing.T) {
	c, err := catalog.Parse([]byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*catalog.Catalog{c, nil} {
		for _, name := range []string{"free", "other"} {
			typer, err := ForMethod(c, catalog.Conventions{}, name, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := Parse(context.Background(), []string{"a=5"}, Options{Typer: typer}); err != nil || string(r.Params) != `{"a":"5"}` {
				t.Errorf("%s: %s, %v", name, r.Params, err)
			}
		}
	}
}

// keyOp is the grammar of rpcx-params(7).
var keyOp = regexp.MustCompile(`^[A-Za-z_$][^=:@{}"\s]*(:=|@=|:@=|@on=|=)`)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"a=1", "a.b:=[1]\x00a.c=2", "a[].b=1\x00a[]=2", "{\"a\":1}\x00a=2", "-", "-\x00x[]=1", "a:@=-", "a\\.b[][]=1",
		"limti=5", "id=1\x00status=shiped", "cb@on=x", "id=1\x00to.zip=5\x00tags[]=1", "1\x00\"x\"", "a:= \xbe", "{\"a\":1,\"a\":2}\x00a.b=3",
	} {
		f.Add(s, `{"x":[1]}`)
	}
	typer := typerOf(f, shop, "list")
	f.Fuzz(func(t *testing.T, words, stdin string) {
		args := strings.Split(words, "\x00")
		for _, arg := range args {
			key, op, value := splitKey(arg)
			m := keyOp.FindStringSubmatch(arg)
			if (m == nil) != (op == "") || m != nil && (m[1] != op || key+op+value != arg || len(key)+len(op) != len(m[0])) {
				t.Fatalf("%q: split as %q %q %q", arg, key, op, value)
			}
		}
		for _, ty := range []*Typer{nil, typer} {
			r, err := Parse(context.Background(), args, Options{Typer: ty, Stdin: strings.NewReader(stdin), ReadFile: files, Funcs: true})
			if err != nil {
				if f := wire.AsFault(err); f == nil || f.Kind != wire.Usage {
					t.Fatalf("%q: %v is not a usage fault", args, err)
				}
				continue
			}
			if r.Params == nil {
				continue
			}
			if !json.Valid(r.Params) || strings.ContainsAny(string(r.Params), "\r\n") {
				t.Fatalf("%q: %q is not JSON on one line", args, r.Params)
			}
			if k := scan.Type(r.Params); k != 'o' && k != 'a' {
				t.Fatalf("%q: %s is neither object nor array", args, r.Params)
			}
			for pointer := range r.Funcs {
				if string(scan.At(r.Params, pointer)) != "null" {
					t.Fatalf("%q: nothing at %s of %s", args, pointer, r.Params)
				}
			}
		}
	})
}

// TestRefusalsWhole compares whole errors about invalid params, with the correction and, if one is known, an example.
func TestRefusalsWhole(t *testing.T) {
	typer := typerOf(t, `{"catalog":1,"methods":[{"name":"m","params":{"type":"object","additionalProperties":false,"required":["a"],"properties":{
		"a":{"type":"integer","examples":[7]},
		"in":{"type":"object","required":["b c"],"properties":{"b c":{"type":"string","examples":["x"]},"n":{"type":"integer"}}},
		"list":{"type":"array","items":{"type":"object","required":["d"],"properties":{"d":{"type":"boolean","examples":[true]}}}},
		"deep":{"type":"object","required":["e"],"properties":{"e":{"type":"string","examples":["y"]}}},
		"one":{"oneOf":[{"type":"object","required":["kind","v"],"properties":{"kind":{"const":"number"},"v":{"type":"integer"}}},{"type":"object","required":["kind","v"],"properties":{"kind":{"const":"text"},"v":{"type":"string"}}}]}}}}]}`, "m")
	for _, tt := range []struct{ args, message, hint, better string }{
		{``, `params: lacks "a" (schema rule "required")`, `for example a:=7`, ``},
		{`a=1|in={}`, `params: /in: lacks "b c" (schema rule "required")`, `for example "b c":"x" in /in`, ``},
		{`a=1|deep={}`, `params: /deep: lacks "e" (schema rule "required")`, `for example deep.e=y`, ``},
		{`a=1|list=[{}]`, `params: /list/0: lacks "d" (schema rule "required")`, `for example "d":true in /list/0`, ``},
		{`a=1|one.kind=number|one.v=5`, ``, ``, `{"a":1,"one":{"kind":"number","v":5}}`},
		{`a=1|one.kind=text|one.v=5`, ``, ``, `{"a":1,"one":{"kind":"text","v":"5"}}`},
		{`a=x`, `parameter "a=x": /a: got "x", want integer (schema rule "type")`, `--no-check sends it anyway`, ``},
		{`{"a":"x"}`, `params: /a: got string, want integer (schema rule "type")`, `--no-check sends it anyway`, ``},
		{`{"a":"5"}`, `params: /a: got string, want integer (schema rule "type")`, `--no-check sends it anyway`, `{"a":5}`},
		{`{"a":"\"s\""}`, `params: /a: got string, want integer (schema rule "type")`, `--no-check sends it anyway`, ``},
		{`[1,2]`, `params: /in: got number, want object (schema rule "type")`, `--no-check sends it anyway`, ``},
	} {
		var args []string
		if tt.args != "" {
			args = strings.Split(tt.args, "|")
		}
		r, err := Parse(context.Background(), args, Options{Typer: typer, ReadFile: files})
		message, hint, better := "", "", string(r.Params)
		if err != nil {
			f, ae := wire.AsFault(err), &ArgError{}
			message, hint, better = f.Message, f.Hint, ""
			if errors.As(err, &ae) {
				better = strings.Join(ae.Args, " ")
			}
		}
		if message != tt.message || hint != tt.hint || better != tt.better {
			t.Errorf("%s:\n got %s\n     %s\n     %s\nwant %s\n     %s\n     %s", tt.args, message, hint, better, tt.message, tt.hint, tt.better)
		}
	}
}

// TestPositional checks that the values of an object are in the order of the names in the schema, with null for missing values, and
// keep their own order if the schema has no names.
func TestPositional(t *testing.T) {
	typer := typerOf(t, shop, "list")
	for params, want := range map[string]string{
		`[1]`: `[1]`, `{}`: `[]`, `{"id":"a"}`: `["a"]`, `{"exact":true,"id":"a"}`: `["a",null,true]`, `{"limit":1}`: `[null,1]`,
		`{"odd":1,"id":"a"}`: `[1,"a"]`, `null`: `null`,
	} {
		if got := string(Positional(json.RawMessage(params), typer)); got != want {
			t.Errorf("%s: got %s, want %s", params, got, want)
		}
	}
	if got := string(Positional(json.RawMessage(`{"b":1,"a":2}`), nil)); got != `[1,2]` {
		t.Errorf("without a schema: %s", got)
	}
}

// TestExamplesHaveBounds checks that a hint shows a name of 60 characters and a value of 200 bytes as key=value, but not a value of
// 1000 bytes.
func TestExamplesHaveBounds(t *testing.T) {
	say := func(schema string) (hint string) {
		typer := typerOf(t, `{"catalog":1,"methods":[{"name":"m","params":`+schema+`}]}`, "m")
		_, err := Parse(context.Background(), []string{"{}"}, Options{Typer: typer})
		f := wire.AsFault(err)
		if f == nil {
			t.Fatalf("%s: %v", schema, err)
		}
		return f.Hint
	}
	one := func(name, value string) string {
		return `{"type":"object","required":["` + name + `"],"properties":{"` + name + `":{"type":"string","examples":["` + value + `"]}}}`
	}
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, tt := range []struct{ name, value, want string }{
		{long(60), "v", "for example " + long(60) + "=v"},
		{long(61), "v", `for example '{"` + long(61) + `":"v"}'`},
		{"a", long(198), "for example a=" + long(198)},
		{"a", long(199), `for example '{"a":"` + long(199) + `"}'`},
		{"a", long(998), `for example '{"a":"` + long(998) + `"}'`},
		{"a", long(999), "--no-check sends it anyway"},
	} {
		if got := say(one(tt.name, tt.value)); got != tt.want {
			t.Errorf("%d and %d: got %s\nwant %s", len(tt.name), len(tt.value), got, tt.want)
		}
	}
}
