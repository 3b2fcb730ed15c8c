package introspect

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// service answers the questions of discovery as one with many modules would.
type service struct {
	dialect.Caller
	modules int
}

func (s service) Open(_ context.Context, op dialect.Op) (dialect.Stream, error) {
	data := `{"hash":"h"}`
	switch op.Method {
	case schemaMethod:
		var list []string
		for i := range s.modules {
			list = append(list, fmt.Sprintf(`{"namespace":"m%d","methods":["a"]}`, i))
		}
		data = `{"modules":[` + strings.Join(list, ",") + `]}`
	case moduleSchemaMethod:
		data = `{"oneOf":[{"type":"object","properties":{"method":{"const":"a"}}}]}`
	}
	return &answer{body: `{"service_hash":"h","type":"data","data":` + data + `}`}, nil
}

// answer is a stream of one data event.
type answer struct{ body string }

func (a *answer) Next(context.Context) (wire.Message, error) {
	if a.body == "" {
		return wire.Message{}, io.EOF
	}
	m := wire.Message{Kind: wire.Item, Body: json.RawMessage(a.body)}
	a.body = ""
	return m, nil
}

func (a *answer) Cancel(context.Context) error { return nil }

// What a service with many modules says is written once, not again with each of
// them: it may be megabytes.
func TestDescribeKeepsAllAtOnce(t *testing.T) {
	c := NewCodec(Options{}).(*codec)
	var kept json.RawMessage
	times := 0
	c.Keep(dialect.Kept{
		Load: func() json.RawMessage { return kept },
		Update: func(change func(json.RawMessage) json.RawMessage) {
			kept, times = change(kept), times+1
		},
	})
	for range 2 { // the second finds all that it needs
		cat, err := c.Describe(t.Context(), service{modules: 50})
		if err != nil || len(cat.Methods) != 50 {
			t.Fatal(cat, err)
		}
	}
	if all := readKnowledge(kept); times != 1 || all == nil || len(all.Schemas) != 50 {
		t.Errorf("kept %d times: %.200s", times, kept)
	}
}
