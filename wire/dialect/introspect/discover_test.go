package introspect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// service answers discovery like a service with many modules.
type service struct {
	dialect.Caller
	modules int
	ignores string // a method that gets no response
	fails   map[string]error
	schema  string // the response to a request for a module's schema, or "" for a usual one
	asked   *int   // counts these requests; may be nil
}

func (s service) Open(_ context.Context, op dialect.Op) (dialect.Stream, error) {
	if op.Method == s.ignores {
		return &answer{}, nil
	}
	if err := s.fails[op.Method]; err != nil {
		return nil, err
	}
	data := `{"hash":"h"}`
	switch op.Method {
	case schemaMethod:
		var list []string
		for i := range s.modules {
			list = append(list, fmt.Sprintf(`{"namespace":"m%d","methods":["a"]}`, i))
		}
		data = `{"modules":[` + strings.Join(list, ",") + `]}`
	case moduleSchemaMethod:
		data = cmp.Or(s.schema, `{"oneOf":[{"type":"object","properties":{"method":{"const":"a"}}}]}`)
		if s.asked != nil {
			*s.asked++
		}
	}
	return &answer{body: `{"service_hash":"h","type":"data","data":` + data + `}`, end: io.EOF}, nil
}

// answer is a stream of one item, if it has a body, and the Caller that returns it.
type answer struct {
	dialect.Caller
	body      string
	end       error // follows the item; nil means that the stream does not end
	cancelled bool
}

func (a *answer) Open(context.Context, dialect.Op) (dialect.Stream, error) { return a, nil }

func (a *answer) Next(ctx context.Context) (m wire.Message, err error) {
	switch {
	case a.body != "":
		m = wire.Message{Kind: wire.Item, Body: json.RawMessage(a.body)}
		a.body = ""
		return m, nil
	case a.end == nil:
		<-ctx.Done()
		return m, ctx.Err()
	}
	return m, a.end
}

func (a *answer) Cancel(context.Context) error {
	a.cancelled = true
	return nil
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
	_, _, err := c.Decode([]byte(`{"method":"s","params":{"subscription":"x","result":{"service_hash":"new","type":"data"}}}`))
	if _ = c.Shutdown(t.Context(), nil); err != nil || kept != nil {
		t.Errorf("after another hash, the cache has %.200s, %v", kept, err)
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

// A lost connection ends discovery. Other failures do not end the user's call.
func TestDiscoveryFails(t *testing.T) {
	closed, refused := wire.NewFault(wire.Closed, "lost", nil), wire.NewFault(wire.Protocol, "refused", nil)
	for _, method := range []string{schemaMethod, moduleSchemaMethod} {
		for _, err := range []error{closed, refused} {
			s := service{modules: 1, fails: map[string]error{method: err}}
			if cat, got := NewCodec(dialect.CodecOptions{}).(*codec).Describe(t.Context(), s); cat != nil || got != err {
				t.Errorf("%s: Describe returned %v, %v", method, cat, got)
			}
			want := err
			if err == refused {
				want = nil
			}
			if cat, got := NewCodec(dialect.CodecOptions{}).(*codec).Typing(t.Context(), s, "m0_a"); cat != nil || wire.AsFault(got) != wire.AsFault(want) {
				t.Errorf("%s: Typing returned %v, %v", method, cat, got)
			}
		}
	}
}

// If the service rejects params, rpcx requests the schema again, also in the next run. It keeps the schema if the service
// does not return another one.
func TestDoubtedSchemas(t *testing.T) {
	c := NewCodec(dialect.CodecOptions{}).(*codec)
	var kept json.RawMessage
	var notes []string
	c.found.kept = dialect.DiscoveryCache{
		Note:   func(text string) { notes = append(notes, text) },
		Load:   func() json.RawMessage { return kept },
		Update: func(change func(json.RawMessage) json.RawMessage) { kept = change(kept) },
	}
	asked := 0
	s := service{modules: 2, asked: &asked}
	typing := func(want int) {
		t.Helper()
		cat, err := c.Typing(t.Context(), s, "m0_a")
		if err != nil || cat.Methods[0].Params == nil || asked != want {
			t.Errorf("%v after %d requests, want %d", err, asked, want)
		}
	}
	if _, err := c.Describe(t.Context(), s); err != nil {
		t.Error(err)
	}
	typing(2)
	c.found.calls.Add(1)
	typing(2) // the call was accepted
	c.hashes.wrong.Store(true)
	c.found.calls.Add(1)
	typing(3)
	if all := readDiscovered(kept); c.hashes.wrong.Load() || len(all.Schemas) != 1 {
		t.Errorf("the cache has %s", kept)
	}
	c.found.calls.Add(1)
	typing(3)
	s.schema = "7"
	typing(4) // the same call again, so the caller rejected the schema
	if len(notes) != 1 || notes[0] != "the service did not return the schema of its module m0" {
		t.Errorf("%q", notes)
	}
	c.hashes.wrong.Store(true)
	_ = c.Shutdown(t.Context(), nil)
	if all := readDiscovered(kept); all == nil || len(all.Schemas) > 0 {
		t.Errorf("the next run finds %s", kept)
	}
}

// rpcx unsubscribes from a stream that it cannot read, but not from one whose end follows its error.
func TestDiscoveryUnsubscribes(t *testing.T) {
	for _, test := range []struct {
		body string
		end  error
		want string
	}{
		{`{"type":"error","error":"no"}`, io.EOF, "no, cancelled: false"},
		{`{"type":"error","error":"no"}`, io.ErrClosedPipe, "no\n" + io.ErrClosedPipe.Error() + ", cancelled: true"},
		{`7`, io.EOF, "unreadable, cancelled: true"},
	} {
		st := &answer{body: test.body, end: test.end}
		data, err := (&codec{Codec: unreadable{}}).ask(t.Context(), st, hashMethod, nil)
		if got := fmt.Sprintf("%v, cancelled: %t", err, st.cancelled); data != nil || got != test.want {
			t.Errorf("%s: %s, %q, want %q", test.body, data, got, test.want)
		}
	}
}

// unreadable is a codec that cannot read an event.
type unreadable struct{ dialect.Codec }

func (unreadable) Event(*wire.Message, *wire.Event) error { return errors.New("unreadable") }
