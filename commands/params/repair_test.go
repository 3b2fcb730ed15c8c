package params

import (
	"errors"
	"strings"
	"testing"

	"rpcx/wire"
)

// TestRepaired checks that a text is corrected only if its meaning is clear, and that a string never replaces an object.
func TestRepaired(t *testing.T) {
	for text, want := range map[string]string{
		`{"id": o_001}`:                 `{"id": "o_001"}`,
		`{id: "o_001"}`:                 `{"id": "o_001"}`,
		`{'id':'o_001', "n": 1}`:        `{"id":"o_001", "n": 1}`,
		`{"a":[1,2,],}`:                 `{"a":[1,2]}`,
		`[newHeads]`:                    `["newHeads"]`,
		`{"a": True, "b": -1e5}`:        `{"a": true, "b": -1e5}`,
		`{"a:b": "it's, {x}", b: null}`: `{"a:b": "it's, {x}", "b": null}`,
		`[1,2`:                          "", `{"a" 1}`: "", `{"a":"`: "", `hello`: "", ``: "",
	} {
		got, ok := repaired(text)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s: %s, %t; want %s", text, got, ok, want)
		}
	}
}

// TestMisspelt checks that a misspelt member is renamed to the missing one, even if the schema accepts any member, and that the
// schema's own members are not renamed.
func TestMisspelt(t *testing.T) {
	typer := typerOf(t, `{"catalog":1,"methods":[{"name":"list","params":{"type":"object","required":["path"],"properties":{
		"path":{"type":"string","examples":["/"]},"paths":{"type":"array"},"depth":{"type":"integer"},"nums":{"type":"array","items":{"type":"integer"}}}}}]}`, "list")
	long := strings.Repeat("x", 4096-len(`{"path":""}`))
	for _, c := range []struct{ args, message, hint, better string }{
		{`pth=/a`, `lacks "path" (there is "pth"); did you mean path? (schema rule "required"`, `--no-check`, `{"path":"/a"}`},
		{`pth:=5 depth=2`, `lacks "path" (there is "pth"); did you mean path?`, `--no-check`, ``},
		{`pat=/a pth=/b`, `lacks "path" (there is "pat"); did you mean path?`, `--no-check`, `{"path":"/a","pth":"/b"}`},
		{`{"path":"/","nums":["1","2","3","4","5","6","7"]}`, `want integer`, `--no-check`, `{"path":"/","nums":[1,2,3,4,5,6,7]}`},
		{`{"path":"/","nums":["1","2","3","4","5","6","7","8"]}`, `want integer`, `--no-check`, ``},
		{`{"pth":"` + long + `"}`, `lacks "path"`, `--no-check`, `{"path":"` + long + `"}`},
		{`{"pth":"` + long + `x"}`, `lacks "path"`, `--no-check`, ``},
		{`paths:=[] other=1`, `lacks "path" (schema rule "required"`, `for example path=/`, ``},
	} {
		_, err := Parse(t.Context(), strings.Fields(c.args), Options{Typer: typer})
		f := wire.AsFault(err)
		var ae *ArgError
		if f == nil || !strings.Contains(f.Message, c.message) || !strings.Contains(f.Hint, c.hint) || !errors.As(err, &ae) || strings.Join(ae.Args, " ") != c.better {
			t.Errorf("%s:\n got %+v\nwant %+v", c.args, err, c)
		}
	}
}
