package dialects

import (
	"encoding/json"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// pageRow is the row of dialects that are pages.
var pageRow = row{fields: func() Fields { return &ExtraMembers{} }}

// ExtraMembers are the members of a message beside method and params, where a page names some.
type ExtraMembers struct{ given []string }

// Given reports whether the flag was given.
func (b *ExtraMembers) Given() bool { return len(b.given) > 0 }

// Flags returns the flags anew.
func (b *ExtraMembers) Flags() []cmdline.Flag {
	return []cmdline.Flag{
		cmdline.List(cmdline.GroupParams, "extra", "", "a member beside method and params, `NAME=TEXT` or NAME:=JSON, in dialects that have such members, as cdp has sessionId (repeatable)", &b.given),
	}
}

// Extra returns the members as an object; nil where none was given.
func (b *ExtraMembers) Extra(l *cmdline.CommandLine, e endpoint.Endpoint, _ bool) (json.RawMessage, error) {
	if !b.Given() {
		return nil, nil
	}
	var o scan.Object
	for _, text := range b.given {
		name, val, ok := strings.Cut(text, "=")
		if !ok {
			return nil, l.Usage("--extra %s: expected NAME=TEXT or NAME:=JSON", text)
		}
		name, isJSON := strings.CutSuffix(name, ":")
		if known := e.Spec().Params.Extra; !slices.Contains(known, name) && e.Socket == "" {
			f := l.Usage("--extra %s: %s has no such member beside method and params", name, e.Dialect)
			if len(known) > 0 {
				f.Hint = "it has " + strings.Join(known, ", ")
			}
			return nil, f
		}
		if !isJSON {
			o.Text(name, val)
			continue
		}
		if err := scan.Valid([]byte(val), wire.DefaultMaxDepth); err != nil {
			return nil, l.Usage("--extra %s: it is no JSON: %v", name, err)
		}
		o.Add(name, []byte(val))
	}
	return o.End(), nil
}
