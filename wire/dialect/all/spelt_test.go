package all_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/framing"
)

// spelt returns the operation that a JSON object describes.
func spelt(text string) (dialect.Op, error) {
	var o struct {
		Kind, Method, Code, Job, Unsubscribe, Beside string
		Params, UnsubscribeParams, Extra             json.RawMessage
		OfID, Stream, About                          json.RawMessage
		Of                                           json.RawMessage
		Funcs                                        map[string]string
		Lasting, Nested                              bool
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return dialect.Op{}, err
	}
	kind, ok := kinds[o.Kind]
	if !ok {
		return dialect.Op{}, fmt.Errorf("unknown operation %q", o.Kind)
	}
	op := dialect.Op{
		Kind: kind, Method: o.Method, Params: o.Params, Code: o.Code, Job: o.Job, Unsubscribe: o.Unsubscribe,
		UnsubscribeParams: o.UnsubscribeParams, Extra: o.Extra, OfID: wire.ID(o.OfID), Stream: wire.ID(o.Stream),
		About: wire.ID(o.About), Funcs: o.Funcs, Lasting: o.Lasting, Nested: o.Nested, Beside: o.Beside,
	}
	if o.Of != nil {
		of, err := spelt(string(o.Of))
		if err != nil {
			return op, err
		}
		op.Of = &of
	}
	return op, nil
}

// speltEvent returns the event that a JSON object describes.
func speltEvent(text string) (wire.Event, error) {
	var e struct {
		Event  string
		Stream json.RawMessage
		Kind   json.RawMessage // hides the Kind of the event
	}
	var ev wire.Event
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return ev, err
	}
	rest := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(text), &rest); err != nil {
		return ev, err
	}
	delete(rest, "event")
	delete(rest, "stream")
	plain, err := json.Marshal(rest)
	if err == nil {
		err = json.Unmarshal(plain, &ev)
	}
	ev.Stream = wire.ID(e.Stream)
	for kind := wire.Data; kind <= wire.Opened; kind++ {
		if kind.String() == e.Event {
			ev.Kind = kind
			return ev, err
		}
	}
	return ev, fmt.Errorf("unknown event %q", e.Event)
}

func TestSpecs(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range all.Specs() {
		if s.Name == "" || seen[s.Name] {
			t.Errorf("the name %q is empty or a duplicate", s.Name)
		}
		seen[s.Name] = true
		if s.NewServer == nil || s.NewCodec == nil || s.NewCodec(dialect.CodecOptions{}) == nil {
			t.Errorf("%s has no codec or no server", s.Name)
		}
		if s.Shape == nil {
			t.Errorf("%s has no Shape", s.Name)
		}
		if _, ok := framing.ByName(s.Transport.Framing); s.Transport.Framing != "" && !ok {
			t.Errorf("%s has the framing %q, which does not exist", s.Name, s.Transport.Framing)
		}
		if c := s.AnswerCache; c != nil && (c.Key == nil || c.MaxAge == nil) {
			t.Errorf("%s: an AnswerCache needs both Key and MaxAge", s.Name)
		}
		if n := s.Names.Spelling; n != nil && (n.User == nil || n.Hook == nil || n.Wire == nil || n.Covers == nil) {
			t.Errorf("%s: a Spelling needs all its functions", s.Name)
		}
		if got, ok := all.Find(s.Name); !ok || got.Name != s.Name {
			t.Errorf("%s is not found by its name", s.Name)
		}
	}
	if !seen[all.Default()] {
		t.Errorf("the default %q is not in the table", all.Default())
	}
	if s := all.Named("nothing"); s.Name != "" || s.NewCodec != nil {
		t.Error("an unknown name has properties")
	}
}

// ForHooks and FromHook are inverse for methods that have both forms.
func TestHookNames(t *testing.T) {
	for _, s := range all.Specs() {
		for _, method := range []string{"plain", "order.get", "repo.issue.get"} {
			hook := s.Names.ForHooks(method)
			if back := s.Names.FromHook(hook); back != method {
				t.Errorf("%s: %s has the hook name %s, which is %s on the wire", s.Name, method, hook, back)
			}
		}
	}
}
