package format

import (
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
	if got := Plugin(c, 0, false); got != want {
		t.Errorf("got:\n%s", got)
	}
	if got := Plugin(&catalog.Catalog{}, 0, false); got != "no functions\n" {
		t.Errorf("%q", got)
	}
}
