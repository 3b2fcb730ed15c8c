package schema

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"rpcx/wire/testkit"
)

// suite reads the required cases of the JSON-Schema-Test-Suite (https://github.com/json-schema-org/JSON-Schema-Test-Suite, commit
// 44401e0c046704b476ec9d2e2fccdaee618f259d of 2026-08-22; its MIT licence is in the archive): tests/draft* without optional/, and
// remotes/.
func suite(t *testing.T) map[string][]byte {
	t.Helper()
	f, err := os.Open("testdata/json-schema-test-suite.tar.gz")
	testkit.OK(t, err)
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	testkit.OK(t, err)
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		testkit.OK(t, err)
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// notPassed maps required cases that fail to the reason.
var notPassed = map[string]string{}

func TestRequiredCasesOfTheSuite(t *testing.T) {
	files := suite(t)
	remotes := fstest.MapFS{}
	for name, text := range files {
		if name, ok := strings.CutPrefix(name, "remotes/"); ok {
			remotes[name] = &fstest.MapFile{Data: text}
		}
	}
	copies := []Copy{{Address: "http://localhost:1234/", Folder: remotes}}
	for _, draft := range Drafts {
		cases, failed := 0, 0
		for name, text := range files {
			if path.Dir(name) != "tests/draft"+draft {
				continue
			}
			n, bad := suiteFile(t, draft, name, text, copies)
			cases, failed = cases+n, failed+bad
		}
		t.Logf("draft %s: %d cases, %d fail", draft, cases, failed)
		if cases < 500 {
			t.Errorf("draft %s: only %d cases", draft, cases)
		}
	}
}

// suiteFile runs the cases in one file, and returns the numbers of cases and failures.
func suiteFile(t *testing.T, draft, name string, text []byte, copies []Copy) (cases, failed int) {
	t.Helper()
	var groups []struct {
		Description string
		Schema      json.RawMessage
		Tests       []struct {
			Description string
			Data        json.RawMessage
			Valid       bool
		}
	}
	testkit.OK(t, json.Unmarshal(text, &groups))
	for _, g := range groups {
		folder := fstest.MapFS{"schema.json": {Data: g.Schema}}
		v, err := Open(folder, "schema.json", "", FileOptions{Draft: draft, Copies: copies})
		for _, c := range g.Tests {
			cases++
			full := fmt.Sprintf("%s: %s: %s", strings.TrimPrefix(name, "tests/"), g.Description, c.Description)
			if err == nil && (len(all(t, v, c.Data)) == 0) == c.Valid {
				if why, ok := notPassed[full]; ok {
					t.Errorf("%s passes, but is listed as failing: %s", full, why)
				}
				continue
			}
			failed++
			if notPassed[full] == "" {
				t.Errorf("%s: valid is not %v (%v)", full, c.Valid, err)
			}
		}
	}
	return cases, failed
}

// all returns the mismatches of a value.
func all(t *testing.T, s *Schema, value []byte) []Mismatch {
	t.Helper()
	found, _, err := s.All(t.Context(), value)
	if err != nil {
		t.Error(err)
	}
	return found
}

func TestOpenKeepsToTheFolder(t *testing.T) {
	folder := fstest.MapFS{
		"a.json":       {Data: []byte(`{"$ref":"sub/b.json#/$defs/n"}`)},
		"sub/b.json":   {Data: []byte(`{"$defs":{"n":{"$ref":"../c.json"}}}`)},
		"c.json":       {Data: []byte(`{"type":"integer"}`)},
		"id.json":      {Data: []byte(`{"$id":"https://example.com/schemas/id.json","$ref":"c.json"}`)},
		"out.json":     {Data: []byte(`{"$ref":"file:///etc/passwd"}`)},
		"up.json":      {Data: []byte(`{"$ref":"../../../etc/passwd"}`)},
		"net.json":     {Data: []byte(`{"$ref":"https://example.com/x.json"}`)},
		"gone.json":    {Data: []byte(`{"$ref":"nothing.json"}`)},
		"nowhere.json": {Data: []byte(`{"$ref":"#/$defs/x"}`)},
		"anchor.json":  {Data: []byte(`{"$ref":"#x"}`)},
		"broken.json":  {Data: []byte("{\n\"type\":}")},
		"wrong.json":   {Data: []byte(`{"type":"text"}`)},
		"huge.json":    {Data: []byte(`{"minimum":1e5000}`)},
		"meta.json":    {Data: []byte(`{"$schema":"https://example.com/meta"}`)},
	}
	for _, c := range []struct{ file, want string }{
		{"a.json", ""},
		{"id.json", ""},
		{"out.json", "$ref to file:///etc/passwd: it is outside the schema's directory, and rpcx does not fetch schemas"},
		{"up.json", "$ref to rpcx:///etc/passwd: it is outside the schema's directory, and rpcx does not fetch schemas"},
		{"net.json", "$ref to https://example.com/x.json: it is outside the schema's directory, and rpcx does not fetch schemas"},
		{"gone.json", "$ref to nothing.json: nothing.json: file does not exist"},
		{"nowhere.json", "$ref to nowhere.json#/$defs/x: not found"},
		{"anchor.json", "$ref to anchor.json#x: there is no such anchor"},
		{"broken.json", "broken.json is not JSON: line 2: invalid character '}' looking for beginning of value"},
		{"wrong.json", `the schema is not usable: at /type: matches no alternative: "text" is not one of "array", "boolean", "integer", "null", "number", "object", "string"; or got string, want array`},
		{"huge.json", "huge.json contains a number that is too large to check"},
		{"meta.json", "$ref to https://example.com/meta: it is outside the schema's directory, and rpcx does not fetch schemas"},
	} {
		v, err := Open(folder, c.file, "", FileOptions{})
		got := ""
		if err != nil {
			got = err.Error()
		} else if len(all(t, v, []byte(`"x"`))) == 0 || len(all(t, v, []byte(`1`))) != 0 {
			got = "it does not check"
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.file, got, c.want)
		}
	}
}

// shown returns mismatches as lines.
func shown(all []Mismatch, indent string) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%s%s %s: %s [%s]\n", indent, f.Pointer, f.Rule, f.Message, f.Schema)
		for _, branch := range f.Branches {
			fmt.Fprintf(&b, "%s  %d %s\n%s", indent, branch.Number, branch.Name, shown(branch.Mismatches, indent+"    "))
		}
	}
	return b.String()
}

func TestAll(t *testing.T) {
	folder := fstest.MapFS{"s.json": {Data: []byte(`{
		"type":"object","required":["id"],"additionalProperties":false,
		"propertyNames":{"maxLength":4},
		"properties":{
			"id":{"type":"string","pattern":"^o_"},"n":{"type":"integer","minimum":1},
			"pay":{"oneOf":[{"$ref":"#/$defs/card"},{"$ref":"#/$defs/iban"},{"type":"null"}]},
			"any":{"anyOf":[{"type":"string"},{"type":"object","required":["a","b"]},{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}]},
			"one":{"anyOf":[{"type":"string"}]}},
		"$defs":{
			"card":{"type":"object","properties":{"by":{"const":"card"},"number":{"type":"string"}},"required":["by","number"]},
			"iban":{"type":"object","properties":{"by":{"const":"iban"},"iban":{"type":"string"}},"required":["by","iban"]}}}`)}}
	v, err := Open(folder, "s.json", "", FileOptions{})
	testkit.OK(t, err)
	for _, c := range []struct{ value, want string }{
		{`{"id":"o_1"}`, ""},
		{`{"id":"x","n":0}`, `/id pattern: "x" does not match the pattern ^o_ [/properties/id]
/n minimum: 0 is less than 1 [/properties/n]
`},
		// The intended alternative is the one with a matching constant, or else the one with a matching type.
		{`{"id":"o_1","pay":{"by":"iban"}}`, `/pay oneOf: matches no alternative; the nearest of 3 is number 2 (iban), but the value lacks "iban" [/properties/pay]
  2 iban
    /pay required: lacks "iban" [/$defs/iban]
  3 
    /pay type: got object, want null [/properties/pay/oneOf/2]
  1 card
    /pay required: lacks "number" [/$defs/card]
    /pay/by const: "iban" is not "card" [/$defs/card/properties/by]
`},
		{`{"id":"o_1","any":{"a":"x"}}`, `/any anyOf: matches no alternative; the nearest of 3 is number 3, but /a got string, want integer [/properties/any]
  3 
    /any/a type: got string, want integer [/properties/any/anyOf/2/properties/a]
  2 
    /any required: lacks "b" [/properties/any/anyOf/1]
  1 
    /any type: got object, want string [/properties/any/anyOf/0]
`},
		{`{"id":"o_1","one":1}`, `/one anyOf: matches no alternative; the nearest of 1 is number 1, but the value got number, want string [/properties/one]
  1 
    /one type: got number, want string [/properties/one/anyOf/0]
`},
		{`{"longer":1}`, ` additionalProperties: has no property "longer" []
 propertyNames: the name "longer" is not allowed: has 6 characters, but can have at most 4 [/propertyNames]
 required: lacks "id" []
`},
		{`nonsense`, " json: is not JSON: expected true, false or null at byte 1 []\n"},
		{`1e99999`, " type: contains a number that is too large to check []\n"},
	} {
		if got := shown(all(t, v, []byte(c.value)), ""); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.value, got, c.want)
		}
	}
}

func TestOpenAPart(t *testing.T) {
	folder := fstest.MapFS{
		"api.json": {Data: []byte(`{"openrpc":"1.3.0","$schema":"https://meta.open-rpc.org/","methods":[{"name":"a","result":{"schema":{"$ref":"#/components/schemas/N"}}}],"components":{"schemas":{"N":{"type":"integer"}}}}`)},
		"cat.json": {Data: []byte(`{"catalog":1,"methods":[{"name":"a","result":{"$ref":"#/$defs/N"}}],"$defs":{"N":{"type":"integer"}}}`)},
		"old.json": {Data: []byte(`{"type":"number","minimum":1,"exclusiveMinimum":true}`)},
		"fmt.json": {Data: []byte(`{"format":"date"}`)},
	}
	check := func(name, pointer, value string, o FileOptions, fits bool) {
		t.Helper()
		v, err := Open(folder, name, pointer, o)
		if err != nil {
			t.Errorf("%s#%s: %v", name, pointer, err)
			return
		}
		if all := all(t, v, []byte(value)); (len(all) == 0) != fits {
			t.Errorf("%s#%s: %s: %v", name, pointer, value, all)
		}
	}
	check("api.json", "/methods/0/result/schema", "1", FileOptions{}, true)
	check("api.json", "/methods/0/result/schema", "true", FileOptions{}, false)
	check("cat.json", "/methods/0/result", "1", FileOptions{}, true)
	check("cat.json", "/methods/0/result", "1.5", FileOptions{}, false)
	check("old.json", "", "1", FileOptions{Draft: "4"}, false)
	check("old.json", "", "2", FileOptions{Draft: "4"}, true)
	for _, draft := range Drafts {
		check("fmt.json", "", `"no date"`, FileOptions{Draft: draft}, true)
		check("fmt.json", "", `"no date"`, FileOptions{Draft: draft, Formats: true}, false)
	}
	if _, err := Open(folder, "cat.json", "/methods/5", FileOptions{}); err == nil || err.Error() != "nothing found at /methods/5" {
		t.Errorf("got %v", err)
	}
}
