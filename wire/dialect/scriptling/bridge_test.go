package scriptling

import (
	"encoding/json"
	"testing"

	"rpcx/wire/catalog"
)

// Arguments by name become an object, arguments by position become an array, and no arguments become no params.
func TestArgumentsAsParams(t *testing.T) {
	for params, want := range map[string]string{
		`{"name":"f","args":[1,2]}`:               `[1,2]`,
		`{"name":"f","args":[[]]}`:                `[[]]`,
		`{"name":"f","kwargs":{"a":1}}`:           `{"a":1}`,
		`{"name":"f","args":[],"kwargs":{"a":1}}`: `{"a":1}`,
		`{"name":"f","args":[1],"kwargs":{}}`:     `[1]`,
		`{"name":"f","args":[1],"kwargs":null}`:   `[1]`,
		`{"name":"f","args":[],"kwargs":{}}`:      ``,
		`{"name":"f","args":[ ],"kwargs": {} }`:   ``,
		`{"name":"f","args":null}`:                ``,
		`{"name":"f"}`:                            ``,
		``:                                        ``,
	} {
		if got, err := plainParams(json.RawMessage(params)); string(got) != want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", params, got, err, want)
		}
	}
	if got, err := plainParams(json.RawMessage(`{"name":"f","args":[1],"kwargs":{"a":1}}`)); err == nil {
		t.Errorf("arguments in both directions: %s", got)
	}
}

// Only functions that the plugin itself runs can be called.
func TestFunctionsAlone(t *testing.T) {
	for _, c := range []struct {
		method catalog.Method
		alone  bool
	}{
		{catalog.Method{Name: "f"}, true},
		{catalog.Method{Name: "f", Extra: json.RawMessage(`{"description":"d"}`)}, true},
		{catalog.Method{Name: "f", Extra: json.RawMessage(`{"source":"def f(): pass"}`)}, false},
		{catalog.Method{Name: "Config.get"}, false},
	} {
		if got := isFunction(&c.method); got != c.alone {
			t.Errorf("%+v: %v", c.method, got)
		}
	}
}
