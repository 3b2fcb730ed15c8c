package relay

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// Packing and unpacking changes neither a message nor its events.
func TestPacked(t *testing.T) {
	raw := []byte("{\n\"result\": [1.10, \"é\"]}")
	body := raw[12 : len(raw)-1]
	for name, tt := range map[string]struct {
		m  wire.Message
		ev wire.Event
	}{
		"data, final in message and event": {wire.Message{Kind: wire.Response, Final: true, Raw: raw, Body: body}, wire.Event{Data: body, Final: true}},
		"data, final in the message only":  {wire.Message{Kind: wire.Response, Final: true, Raw: raw, Body: body}, wire.Event{Data: body}},
		"an item":                          {wire.Message{Kind: wire.Item, Raw: raw, Body: body}, wire.Event{Data: body}},
		"data that is not in the message's body, with extra members": {wire.Message{Kind: wire.Item, Raw: raw}, wire.Event{Data: body, ContentType: "t", Extra: json.RawMessage(`{"a":1}`)}},
		"data that differs from the message":                         {wire.Message{Kind: wire.Item, Raw: []byte(`{"x":1}`)}, wire.Event{Data: json.RawMessage(`2`), ContentType: "t", Seq: json.RawMessage("7")}},
		"a gap":                                                      {wire.Message{Kind: wire.Item}, wire.Event{Kind: wire.Gap, Missed: 3}},
		"an error":                                                   {wire.Message{Kind: wire.Response, Raw: []byte(`{}`)}, wire.Event{Kind: wire.Failure, Final: true, Err: wire.NewError(7, "no")}},
		"a log line":                                                 {wire.Message{Kind: wire.Notification, Raw: []byte("[]")}, wire.Event{Kind: wire.Log, Level: "warn", Message: "<é>"}},
		"the end of a stream":                                        {wire.Message{Kind: wire.Item, Final: true, Raw: []byte(`{"a":"\u2028"}`)}, wire.Event{Kind: wire.Done, Final: true}},
	} {
		t.Run(name, func(t *testing.T) {
			line := pack(tt.m, tt.ev, nil)
			m, err := unpack(line)
			if err != nil || bytes.ContainsAny(line, "\r\n") {
				t.Fatalf("%v: %q", err, line)
			}
			if m.Kind != tt.m.Kind || m.Final != tt.m.Final || string(m.Raw) != string(tt.m.Raw) {
				t.Errorf("the message became %+v", m)
			}
			if !reflect.DeepEqual(*m.Event, tt.ev) {
				t.Errorf("the event became %+v, want %+v", *m.Event, tt.ev)
			}
		})
	}
	// The bytes of a plain result are packed only once.
	long := []byte(`{"result":"` + strings.Repeat("x", 10000) + `"}`)
	if n := len(pack(wire.Message{Kind: wire.Response, Final: true, Raw: long}, wire.Event{Data: long[10 : len(long)-1], Final: true}, nil)); n > len(long)+100 {
		t.Errorf("a result of %d bytes is packed into %d bytes", len(long), n)
	}
	_, err := unpack(pack(wire.Message{Kind: wire.Item}, wire.Event{}, wire.NewFault(wire.Protocol, "why", nil)))
	testkit.Expect(t, "a fault instead of an event", testkit.Failed(err), "failed protocol")
}

// A failure that cannot be encoded keeps its message.
func TestFaultWithoutJSON(t *testing.T) {
	f := wire.NewFault(wire.Protocol, "why", nil)
	f.RPC = &wire.Error{Message: "x", Raw: json.RawMessage("not JSON")}
	if got := FromRPC(ToRPC(f)); !strings.Contains(got.Error(), "why") {
		t.Error(got)
	}
}

// Whatever arrives on a session's socket, a command does not crash.
func FuzzUnpack(f *testing.F) {
	for _, s := range []string{
		`{"kind":4,"final":false,"from":1,"to":3,"msg":{"a":1}}`, `{"kind":4,"from":1,"to":99,"msg":{}}`, `{"kind":4,"from":3,"to":1,"msg":{"a":1}}`, `{"kind":200}`, `{"kind":-1}`,
		`{"kind":4,"from":1,"to":3,"rare":{"event":{"kind":0,"seq":1}},"msg":{"a":1}}`, `{"kind":4,"rare":7}`,
		`{"kind":4,"rare":{"event":{"kind":99}}}`, `{"kind":4,"rare":{"event":{"kind":7}}}`, `{"kind":4,"rare":{"event":{"kind":4}}}`,
		`{"kind":2,"rare":{"event":{"kind":4,"error":{"code":1,"message":"x"}},"text":"a\nb"}}`, `{"kind":2,"rare":{"fault":{"kind":"x"}}}`, `{"kind":2,"rare":{"fault":7}}`, `[]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := unpack(body)
		if err != nil {
			if wire.AsFault(err) == nil && err != wire.ErrUnsupported {
				t.Fatalf("%v is not a fault", err)
			}
			return
		}
		if m.Event == nil {
			return
		}
		ev := *m.Event
		_ = ev.Kind.String()
		if ev.Kind == wire.Failure {
			_ = ev.Err.JSON()
		}
	})
}
