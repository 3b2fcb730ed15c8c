package format

import (
	"bytes"
	"testing"

	"rpcx/wire/catalog"
)

func TestPlugin(t *testing.T) {
	c, err := catalog.Parse([]byte(`{"catalog":1,"info":{"name":"hello","version":"1.0","description":"A\u001b[31m plugin"},
		"methods":[{"name":"greet","description":"Greets"},{"name":"shout","extra":{"source":"def shout(): pass"}},{"name":"Config.get"}],
		"classes":[{"name":"Config","methods":[{"name":"get","description":"One setting"}],"properties":[{"name":"name","settable":true},{"name":"label"}]}],
		"constants":{"max_retries":3,"who":"World"}}`))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Plugin(&b, c, 0, false); err != nil {
		t.Fatal(err)
	}
	want := `hello 1.0: A\u001b[31m plugin

FUNCTION  RUNS IN        DESCRIPTION
greet     plugin         Greets
shout     host (source)

CLASS Config  KIND                 DESCRIPTION
  get         method               One setting
  name        property, settable
  label       property, read-only

CONSTANT     VALUE
max_retries  3
who          "World"
`
	if b.String() != want {
		t.Errorf("got:\n%s", b.String())
	}
	b.Reset()
	if err := Plugin(&b, &catalog.Catalog{}, 0, false); err != nil || b.String() != "no functions\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
