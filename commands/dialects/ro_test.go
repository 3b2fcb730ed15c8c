package dialects

import (
	"strings"
	"testing"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/endpoint"
)

// TestFieldsBelongToTheirDialect: fields of a request that its dialect does not have
// are refused, and none are added unasked.
func TestFieldsBelongToTheirDialect(t *testing.T) {
	l := &cmdline.CommandLine{Cmd: &cmdline.Command{}}
	e := endpoint.Endpoint{Dialect: "jsonrpc"}
	all := NewRequestFields()
	if extra, err := all.Extra(l, e, false); extra != nil || err != nil || all.Given() {
		t.Errorf("%s, %v", extra, err)
	}
	for _, f := range all {
		if r, ok := f.(*roFields); ok {
			r.resource, r.targetJSON = "repo", " 7 "
		}
	}
	if _, err := all.Extra(l, e, false); wire.AsFault(err) == nil {
		t.Error("a field of another dialect is taken")
	}
	e.Dialect = "ro"
	if extra, err := all.Extra(l, e, true); err != nil || !strings.Contains(string(extra), `"resource":"repo"`) {
		t.Errorf("%s, %v", extra, err)
	}
}
