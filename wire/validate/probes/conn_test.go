package probes_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/validate/probes"
)

// scripted is a connection whose peer sends messages at once.
type scripted struct {
	first  []string
	stays  bool          // the peer does not close the connection
	idle   chan struct{} // closed when all messages have been read
	closed chan struct{}
	sent   []string
	mute   error // with which Send fails
	code   int   // with which the connection was closed
}

func connTo(first ...string) *scripted {
	return &scripted{first: first, idle: make(chan struct{}), closed: make(chan struct{})}
}

func mute(s *scripted) *scripted { s.mute = io.ErrClosedPipe; return s }

func (s *scripted) Recv() ([]byte, error) {
	if len(s.first) > 0 {
		msg := s.first[0]
		s.first = s.first[1:]
		return []byte(msg), nil
	}
	close(s.idle)
	if s.stays {
		<-s.closed
	}
	return nil, io.EOF
}

func (s *scripted) Send(msg []byte) error {
	if s.mute == nil {
		s.sent = append(s.sent, string(msg))
	}
	return s.mute
}

func (s *scripted) Close() error { close(s.closed); return nil }

func (s *scripted) CloseWith(code int, _ string) error { s.code = code; return s.Close() }

// posting is a connection over HTTP whose exchanges fail.
type posting struct {
	*scripted
	err error
}

func (p *posting) Exchange(context.Context, []byte, func([]byte)) error { return p.err }

// Each row is a step of a probe on a connection of its own, which begins after all messages of the peer have arrived.
func TestSteps(t *testing.T) {
	const a = `{"id":1,"result":"a"}`
	none := wire.NewFault(wire.Unreachable, "no such host", nil)
	none.Unreached = true
	for name, c := range map[string]struct {
		conn  *scripted
		fails error // with which HTTP exchanges fail
		step  probes.Step
		want  string // the result
		got   string // the message in the result
		sent  string // what rpcx has sent
	}{
		"a message before the probe":    {connTo(a), nil, probes.Step{Await: ".id == 1", Holds: `.result == "a"`}, "", a, ""},
		"another message":               {connTo(a), nil, probes.Step{Await: ".id == 1", Holds: `.result == "b"`}, "the peer sent a different response", a, ""},
		"a program that fails":          {connTo(a), nil, probes.Step{Await: ".id == 1", Holds: `.id | keys`}, "the peer sent a different response", a, ""},
		"no JSON":                       {connTo(`{"id`), nil, probes.Step{Await: "true"}, "the response is not JSON", `{"id`, ""},
		"a forbidden message":           {connTo(a), nil, probes.Step{Await: "true", Never: ".result"}, "the peer sent this message", a, ""},
		"the end":                       {connTo(), nil, probes.Step{Await: "true"}, "the peer closed the connection, without a response", "", ""},
		"the end after another message": {connTo(a), nil, probes.Step{Await: ".id == 2"}, "the peer closed the connection, without a response; this was the last message", a, ""},
		"the end, which is allowed":     {connTo(), nil, probes.Step{Await: "true", Ends: true}, "", "", ""},
		"the end, which proves nothing": {connTo(), nil, probes.Step{Await: "true", Needed: true}, "the peer did not answer a call", "", ""},
		"a request, which is refused": {
			connTo(`{"jsonrpc":"2.0","id":"x","method":"ask"}`, `{"method":"note"}`, a), nil,
			probes.Step{Send: `{"id":${fill}}`, Fill: "2", Await: ".id == 1"},
			"", a,
			`{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"rpcx answers no requests while it checks the peer"}} {"id":xx}`,
		},
		"common params":                {connTo(a), nil, probes.Step{Send: `{"id":${n},"method":"m","params":1}`, Await: ".id == 1"}, "", a, `{"id":5,"method":"m","params":[1]}`},
		"common params that fail":      {connTo(a), nil, probes.Step{Send: `{"id":1,"method":"none"}`, Await: ".id == 1"}, "error: EOF", "", ""},
		"no sending":                   {mute(connTo(a)), nil, probes.Step{Send: "{}", Await: ".id == 1"}, "the message could not be sent: io: read/write on closed pipe", "", ""},
		"no sending, which is allowed": {mute(connTo(a)), nil, probes.Step{Send: "{}", Await: ".id == 1", Ends: true}, "", "", ""},
		"no exchange":                  {connTo(), none, probes.Step{Send: "{}", Await: "true"}, "error: no such host", "", ""},
		"a failed exchange":            {connTo(), errors.New("HTTP 500"), probes.Step{Send: "{}", Await: "true"}, "HTTP 500", "", ""},
	} {
		c.conn.stays = c.fails != nil
		target := &probes.Target{AnswerTimeout: 5 * time.Second, Dial: func(context.Context, bool) (*probes.Conn, func(), error) {
			var inner wire.Conn = c.conn
			if c.fails != nil {
				inner = &posting{c.conn, c.fails}
			}
			conn := probes.NewConn(inner, dialect.Shape{ID: "id", Method: "method"}, func(wire.Direction, []byte) {})
			conn.CommonParams = func(method string, params json.RawMessage) (json.RawMessage, error) {
				if method == "none" {
					return json.RawMessage("0"), io.EOF
				}
				return json.RawMessage("[" + string(params) + "]"), nil
			}
			ended := conn.Listen()
			<-c.conn.idle
			return conn, func() { _ = conn.Close(); <-ended }, nil
		}}
		res := target.Run(t.Context(), &probes.Probe{Bare: true, Steps: []probes.Step{c.step}}, map[string]json.RawMessage{"n": json.RawMessage("5")})
		got := res.Broken + res.Skipped
		if res.Error != nil {
			got = "error: " + res.Error.Error()
		}
		if !wire.IsClosed(c.conn.closed) {
			t.Errorf("%s: the connection is still open", name)
		}
		if sent := strings.Join(c.conn.sent, " "); got != c.want || string(res.Got) != c.got || sent != c.sent {
			t.Errorf("%s: %q with %s after %s", name, got, res.Got, sent)
		}
	}
}

func TestUserClosesWithACode(t *testing.T) {
	inner := connTo()
	if err := wire.CloseWith(probes.NewConn(inner, dialect.Shape{}, func(wire.Direction, []byte) {}).User(), 1002, "x"); err != nil || inner.code != 1002 {
		t.Error(inner.code, err)
	}
}

// beginning is a connection whose peer sends its messages after the first message to it.
type beginning struct {
	*scripted
	begun chan struct{}
}

func (b beginning) Send(msg []byte) error { close(b.begun); return b.scripted.Send(msg) }

// During a probe, the user of a shared connection receives only requests and notifications.
func TestUserOfASharedConnection(t *testing.T) {
	inner := beginning{connTo(`[{"id":1,"method":"a"}]`, `{"id":1,"result":2}`, `{"id":2,"method":"ask"}`, `{"method":"note"}`, `{"id":3,"method":"cut"`), make(chan struct{})}
	tapped := 0
	conn := probes.NewConn(inner, dialect.Shape{ID: "id", Method: "method"}, func(wire.Direction, []byte) { tapped++ })
	var got []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-inner.begun
		user := conn.User()
		for msg, err := user.Recv(); err == nil; msg, err = user.Recv() {
			got = append(got, string(msg))
		}
	}()
	target := &probes.Target{Shared: conn, AnswerTimeout: 5 * time.Second}
	res := target.Run(t.Context(), &probes.Probe{Steps: []probes.Step{{Send: "{}", Await: "false"}}}, nil)
	<-done
	if res.Broken != "the response is not JSON" || strings.Join(got, " ") != `{"id":2,"method":"ask"} {"method":"note"}` || tapped != 6 || conn.Ended() != io.EOF || !conn.HasReceived() {
		t.Errorf("%q, %q, %d, %v", res.Broken, got, tapped, conn.Ended())
	}
}
