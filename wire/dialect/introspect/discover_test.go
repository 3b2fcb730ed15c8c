package introspect

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"rpcx/wire/dialect"
)

// service answers discovery like a service with many modules.
type service struct {
	dialect.Caller
	modules int
	ignores string // a method that gets no response
}

func (s service) CallOp(ctx context.Context, op dialect.Op) (json.RawMessage, error) {
	switch op.Method {
	case s.ignores:
		<-ctx.Done()
		return nil, ctx.Err()
	case schemaMethod:
		var list []string
		for i := range s.modules {
			list = append(list, fmt.Sprintf(`{"namespace":"m%d","methods":["a"]}`, i))
		}
		return json.RawMessage(`{"modules":[` + strings.Join(list, ",") + `]}`), nil
	case moduleSchemaMethod:
		return json.RawMessage(`{"oneOf":[{"type":"object","properties":{"method":{"const":"a"}}}]}`), nil
	}
	return json.RawMessage(`{"hash":"h"}`), nil
}

// rpcx writes the description of a service with many modules to the cache once, not once per module.
func TestDescribeKeepsAllAtOnce(t *testing.T) {
	c := NewCodec(dialect.CodecOptions{}).(*codec)
	var kept json.RawMessage
	times := 0
	c.found.kept = dialect.DiscoveryCache{
		Load: func() json.RawMessage { return kept },
		Update: func(change func(json.RawMessage) json.RawMessage) {
			kept, times = change(kept), times+1
		},
	}
	for range 2 { // the second run uses the cache
		cat, err := c.Describe(t.Context(), service{modules: 50})
		if err != nil || len(cat.Methods) != 50 {
			t.Fatal(cat, err)
		}
	}
	if all := readDiscovered(kept); times != 1 || all == nil || len(all.Schemas) != 50 {
		t.Errorf("stored %d times: %.200s", times, kept)
	}
}

// If a service does not respond, rpcx warns that it does not check params.
func TestServicesThatDoNotAnswer(t *testing.T) {
	for ignored, want := range map[string]string{
		hashMethod:         "did not describe its methods within 15s",
		schemaMethod:       "did not describe its methods within 15s",
		moduleSchemaMethod: "the schema of its module m0: no response within 15s",
	} {
		synctest.Test(t, func(t *testing.T) {
			c := NewCodec(dialect.CodecOptions{}).(*codec)
			var warned []string
			c.found.kept = dialect.DiscoveryCache{
				Update: func(func(json.RawMessage) json.RawMessage) {},
				Warn:   func(text string) { warned = append(warned, text) },
			}
			for range 2 { // the second run sends no request
				if _, err := c.Typing(t.Context(), service{modules: 1, ignores: ignored}, "m0_a"); err != nil {
					t.Error(ignored, err)
				}
				if ignored == moduleSchemaMethod {
					break
				}
			}
			if len(warned) != 1 || !strings.Contains(warned[0], want) {
				t.Errorf("%s: %q, want %q", ignored, warned, want)
			}
		})
	}
}
