package env

import (
	"context"
	"errors"
	"testing"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/testkit"
)

// The sniffer recognises the dialect of a peer that sends first, even if the message arrives in pieces. After a message that
// several dialects have in common, it waits until its limit.
func TestListen(t *testing.T) {
	for _, tt := range []struct {
		name, better string
		pieces       []string
	}{
		{"a QMP greeting", "qmp+tcp://h:1", []string{`{"QMP": {"version": {}`, `, "capabilities": []}}` + "\n"}},
		{"a HotRepl handshake", "hotrepl+tcp://h:1", []string{`{"type":"hand`, `shake","protocolVersion":2}` + "\n"}},
		{"a notification", "", []string{`{"jsonrpc":"2.0","method":"hello"}` + "\n"}},
		{"nothing", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := endpoint.Parse("tcp://h:1", "")
			testkit.OK(t, err)
			run := &Env{Line: &cmdline.CommandLine{Args: []string{"tcp://h:1"}, Cmd: &cmdline.Command{Name: "describe"}}}
			h := NewSniffer(run, e, NewDeadline(context.Background(), 0, 0), nil)
			over, listened := make(chan time.Time), make(chan error, 1)
			go func() { listened <- h.AwaitMismatch(over) }()
			for _, piece := range tt.pieces {
				h.Sniff([]byte(piece))
			}
			if tt.better == "" {
				over <- time.Time{}
			}
			var shown *Mismatch
			switch err := <-listened; {
			case tt.better == "" && err != nil:
				t.Errorf("got %v", err)
			case tt.better != "" && (!errors.As(err, &shown) || shown.Better != tt.better):
				t.Errorf("got %v, want %s", err, tt.better)
			}
		})
	}
}

// A timeout has the hint that the peer has not responded only if it has sent no message.
func TestSilence(t *testing.T) {
	e, err := endpoint.Parse("http://h:1", "")
	testkit.OK(t, err)
	run := &Env{Line: &cmdline.CommandLine{Args: []string{"http://h:1"}, Cmd: &cmdline.Command{Name: "call"}}}
	h := NewSniffer(run, e, NewDeadline(context.Background(), 0, 0), nil)
	h.stage = afterHandshake
	late := wire.NewFault(wire.Timeout, "not done", nil)
	if f := wire.AsFault(h.Explain(late)); f.Hint == "" {
		t.Error("no hint about a silent peer")
	}
	h.cl.Received()
	if f := wire.AsFault(h.Explain(late)); f.Hint != "" {
		t.Errorf("the hint %q after a message", f.Hint)
	}
}
