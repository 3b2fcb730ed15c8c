package scomp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/peer"
	"rpcx/wire/scan"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// A backend returns the input of echo, and for ask calls the client's notify.
type backend struct{ runtime dialect.Runtime }

func (b backend) Catalog() *catalog.Catalog {
	return &catalog.Catalog{Info: catalog.Info{Name: "orders-scomp", Version: "0.1.0"}, Methods: []catalog.Method{{Name: "echo"}, {Name: "ask"}}}
}
func (b backend) Bind(c dialect.Caller) dialect.Responder { return responder{c: c} }
func (b backend) Host() dialect.Host                      { return dialect.Host{Runtime: b.runtime} }

type responder struct {
	testkit.Unrestricted
	c dialect.Caller
}

func (responder) Close() error { return nil }

func (responder) Kind(name string) (catalog.Kind, bool) {
	return catalog.Call, name == "echo" || name == "ask"
}

func (r responder) Respond(ctx context.Context, q dialect.Request) (json.RawMessage, error) {
	if q.Method == "ask" {
		return r.c.Call(ctx, "notify", q.Params)
	}
	return q.Params, nil
}

// A runtime waits until its context ends for "wait", fails for "fail", counts the session's evals for "count", and otherwise
// invokes the binding named by the code.
type runtime struct {
	counts map[string]int
	forgot []string
}

func (r *runtime) About() map[string]string { return map[string]string{"language": "test"} }
func (r *runtime) Close() error             { return nil }
func (r *runtime) Completions() []string    { return nil }
func (r *runtime) Forget(session string)    { r.forgot = append(r.forgot, session) }

func (r *runtime) Eval(ctx context.Context, e dialect.Code) (json.RawMessage, error) {
	switch e.Code {
	case "wait":
		<-ctx.Done()
		return nil, ctx.Err()
	case "fail":
		return nil, &dialect.EvalError{Message: "ReferenceError: foo is not defined", Stack: "at 1:1"}
	case "names":
		return json.Marshal(e.Names)
	case "function":
		return e.Function("echo"), nil
	case "count":
		r.counts[e.Session]++
		return json.Marshal(r.counts[e.Session])
	}
	value, err := e.Invoke(ctx, e.Code, json.RawMessage(`{"message":"hi"}`))
	var rpc *wire.Error
	if errors.As(err, &rpc) {
		return nil, &dialect.EvalError{Message: rpc.Message, Cause: rpc}
	}
	return value, err
}

// dial returns a connection to s.
func dial(t *testing.T, s *server) wire.Conn {
	near, far := transport.Pair()
	p := peer.New(near, NewCodec(dialect.CodecOptions{}), peer.Options{Handler: s.Accept})
	t.Cleanup(func() { far.Close(); p.Close() })
	return far
}

// play sends and receives messages, in which SESSION stands for the session's id.
func play(t *testing.T, c wire.Conn, session string, steps ...string) string {
	t.Helper()
	for _, step := range steps {
		what, text, _ := strings.Cut(step, " ")
		if what == ">" {
			testkit.OK(t, c.Send([]byte(strings.ReplaceAll(text, "SESSION", session))))
			continue
		}
		raw, err := c.Recv()
		if err != nil {
			t.Fatalf("for %s: %v", text, err)
		}
		if id := textOf(raw, "result", "sessionId"); id != "" {
			session = id
		}
		got := string(raw)
		if session != "" {
			got = strings.ReplaceAll(got, session, "SESSION")
		}
		if got != text {
			t.Fatalf("got  %s\nwant %s", got, text)
		}
	}
	return session
}

func textOf(raw []byte, path ...string) string {
	for _, key := range path[:len(path)-1] {
		raw = firstOf(raw, []string{key})
	}
	return scan.String(firstOf(raw, path[len(path)-1:]))
}

const (
	hi     = `> {"jsonrpc":"2.0","id":1,"method":"handshake","params":{"protocol":"0.1","bindings":[{"name":"notify"}]}}`
	hello1 = `< {"jsonrpc":"2.0","id":1,"result":{"protocol":"0.1","sessionId":"SESSION","bindings":[{"name":"echo"},{"name":"ask"}],"metadata":{"server":{"name":"orders-scomp","version":"0.1.0"},"runtime":{"language":"test"}}}}`
)

func TestServerByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(backend{&runtime{counts: map[string]int{}}}, time.Minute)
		defer s.Close()
		play(t, dial(t, s), "",
			`> {"jsonrpc":"2.0","id":"x","method":"eval","params":{"code":"echo"}}`,
			`< {"jsonrpc":"2.0","id":"x","error":{"code":-32600,"message":"the handshake must precede \"eval\"","data":{"kind":"HandshakeError"}}}`,
			`> {"jsonrpc":"2.0","id":"y","method":"handshake","params":{"protocol":"9"}}`,
			`< {"jsonrpc":"2.0","id":"y","error":{"code":-32600,"message":"expected the protocol \"0.1\", not \"9\"","data":{"kind":"HandshakeError"}}}`,
			hi, hello1,
			hi, `< {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"a second handshake","data":{"kind":"HandshakeError"}}}`,
			`> {"jsonrpc":"2.0","id":2,"method":"invoke","params":{"name":"echo","input":[1.10]}}`,
			`< {"jsonrpc":"2.0","id":2,"result":{"value":[1.10]}}`,
			`> {"jsonrpc":"2.0","id":3,"method":"invoke","params":{"name":"eco"}}`,
			`< {"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"unknown binding: eco","data":{"nearest":"echo"}}}`,
			`> {"jsonrpc":"2.0","id":4,"method":"eval","params":{"code":"fail"}}`,
			`< {"jsonrpc":"2.0","id":4,"error":{"code":-32000,"message":"ReferenceError: foo is not defined","data":{"kind":"EvalError","stack":"at 1:1"}}}`,
			`> {"jsonrpc":"2.0","id":5,"method":"eval","params":{"code":"nope"}}`,
			`< {"jsonrpc":"2.0","id":5,"error":{"code":-32000,"message":"unknown binding: nope","data":{"kind":"InvokeError","error":{"code":-32601,"message":"unknown binding: nope"}}}}`,
			`> {"jsonrpc":"2.0","id":6,"method":"eval","params":{}}`,
			`< {"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"eval needs the code as a string"}}`,
			`> {"jsonrpc":"2.0","id":7,"method":"eval","params":{"code":"names"}}`,
			`< {"jsonrpc":"2.0","id":7,"result":{"value":["echo","ask","notify"]}}`,
			`> {"jsonrpc":"2.0","id":8,"method":"getOrder"}`,
			`< {"jsonrpc":"2.0","id":8,"error":{"code":-32601,"message":"scomp has no method \"getOrder\""}}`,
			`> [{"jsonrpc":"2.0","id":9,"method":"eval","params":{"code":"count"}}]`,
			`< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"scomp has no batches"}}`,
			// The server drops responses that belong to no call, a second response, and an invalid notification.
			`> {"jsonrpc":"2.0","id":77,"result":{"value":1}}`,
			`> {"jsonrpc":"2.0","method":"eval","params":{"code":"count"}}`,
			`> {"jsonrpc":"2.0","method":"release_ref","params":{"ref":"never"}}`,
			`> {"jsonrpc":"2.0","id":10,"method":"eval","params":{"code":"count"}}`,
			`< {"jsonrpc":"2.0","id":10,"result":{"value":1}}`,
			// The client can call the server's function until it releases it.
			`> {"jsonrpc":"2.0","id":11,"method":"eval","params":{"code":"function"}}`,
			`< {"jsonrpc":"2.0","id":11,"result":{"value":{"$fn":"f1"}}}`,
			`> {"jsonrpc":"2.0","id":12,"method":"invoke","params":{"ref":"f1","input":7}}`,
			`< {"jsonrpc":"2.0","id":12,"result":{"value":7}}`,
			`> {"jsonrpc":"2.0","method":"release_ref","params":{"ref":"f1"}}`,
			`> {"jsonrpc":"2.0","id":13,"method":"invoke","params":{"ref":"f1","input":7}}`,
			`< {"jsonrpc":"2.0","id":13,"error":{"code":-32000,"message":"unknown function reference: f1","data":{"kind":"RefError"}}}`,
			// A release with an id gets a response.
			`> {"jsonrpc":"2.0","id":14,"method":"eval","params":{"code":"function"}}`,
			`< {"jsonrpc":"2.0","id":14,"result":{"value":{"$fn":"f2"}}}`,
			`> {"jsonrpc":"2.0","id":15,"method":"release_ref","params":{"ref":"f2"}}`,
			`< {"jsonrpc":"2.0","id":15,"result":null}`,
			`> {"jsonrpc":"2.0","id":16,"method":"invoke","params":{"ref":"f2","input":7}}`,
			`< {"jsonrpc":"2.0","id":16,"error":{"code":-32000,"message":"unknown function reference: f2","data":{"kind":"RefError"}}}`,
		)
	})
}

// Evals run one after the other. Invokes run concurrently and can use the same ids in both directions.
func TestEvalsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(backend{&runtime{counts: map[string]int{}}}, time.Minute)
		defer s.Close()
		c := dial(t, s)
		play(t, c, "",
			// The client does not have to wait for the handshake's response.
			hi, `> {"jsonrpc":"2.0","id":2,"method":"eval","params":{"code":"notify"}}`,
			hello1,
			`< {"jsonrpc":"2.0","id":1,"method":"invoke","params":{"name":"notify","input":{"message":"hi"}}}`,
			`> {"jsonrpc":"2.0","id":3,"method":"eval","params":{"code":"count"}}`,
			`> {"jsonrpc":"2.0","id":1,"method":"invoke","params":{"name":"ask","input":{"deep":1}}}`,
			`< {"jsonrpc":"2.0","id":2,"method":"invoke","params":{"name":"notify","input":{"deep":1}}}`,
			`> {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no"}}`,
			`< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}`,
			`> {"jsonrpc":"2.0","id":1,"result":{"value":"noted"}}`,
			`< {"jsonrpc":"2.0","id":2,"result":{"value":"noted"}}`,
			`< {"jsonrpc":"2.0","id":3,"result":{"value":1}}`,
			// A response whose id has another type is dropped.
			`> {"jsonrpc":"2.0","id":4,"method":"eval","params":{"code":"notify"}}`,
			`< {"jsonrpc":"2.0","id":3,"method":"invoke","params":{"name":"notify","input":{"message":"hi"}}}`,
			`> {"jsonrpc":"2.0","id":"3","result":{"value":"no"}}`,
			`> {"jsonrpc":"2.0","id":3,"result":"bare"}`,
			`< {"jsonrpc":"2.0","id":4,"result":{"value":"bare"}}`,
		)
	})
}

// A session outlives its connection for a limited time. A later client gets a new session.
func TestSessionsOutliveConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{counts: map[string]int{}}
		s := newServer(backend{r}, time.Minute)
		defer s.Close()
		resume := `> {"jsonrpc":"2.0","id":1,"method":"handshake","params":{"protocol":"0.1","metadata":{"sessionId":"SESSION"}}}`
		count := `> {"jsonrpc":"2.0","id":2,"method":"eval","params":{"code":"count"}}`
		first := dial(t, s)
		session := play(t, first, "", hi, hello1, count, `< {"jsonrpc":"2.0","id":2,"result":{"value":1}}`,
			`> {"jsonrpc":"2.0","id":3,"method":"eval","params":{"code":"wait"}}`)
		synctest.Wait()
		first.Close() // ends the eval
		time.Sleep(59 * time.Second)
		second := dial(t, s)
		if again := play(t, second, session, resume, hello1, count, `< {"jsonrpc":"2.0","id":2,"result":{"value":2}}`); again != session {
			t.Errorf("%s is not %s", again, session)
		}
		time.Sleep(time.Hour)
		second.Close()
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if len(r.forgot) != 1 || r.forgot[0] != session {
			t.Errorf("forgotten: %v", r.forgot)
		}
		if again := play(t, dial(t, s), session, resume, hello1, count, `< {"jsonrpc":"2.0","id":2,"result":{"value":1}}`); again == session {
			t.Error("the session was not removed")
		}
	})
}

// When there are too many idle sessions, the oldest end early.
func TestIdleSessionsAreBounded(t *testing.T) {
	r := &runtime{}
	s := newServer(backend{r}, time.Hour)
	defer s.Close()
	first := s.join("")
	s.leave(first)
	second := s.join("")
	s.leave(second)
	for range maxIdleSessions - 2 {
		s.leave(s.join(""))
	}
	if again := s.join(first.id); again != first {
		t.Fatal("the first session ended too early")
	}
	s.leave(first)
	s.leave(s.join(""))
	if len(s.sessions) != maxIdleSessions || len(r.forgot) != 1 || r.forgot[0] != second.id {
		t.Errorf("%d sessions are stored, %q were removed, want %q", len(s.sessions), r.forgot, second.id)
	}
}

// A session that expires during a resume keeps its state.
func TestJoinedSessionsAreKept(t *testing.T) {
	r := &runtime{}
	s := newServer(backend{r}, time.Hour)
	defer s.Close()
	ses := s.join("")
	if s.join(ses.id); ses.conns != 2 {
		t.Fatalf("%d connections have the session", ses.conns)
	}
	if s.leave(ses); ses.end != nil {
		t.Error("the session is going to end while a connection has it")
	}
	s.leave(ses)
	left := ses.left
	if s.join(ses.id) != ses {
		t.Fatal("the session ended too early")
	}
	s.expire(ses, left) // the expiry races with the resume
	if s.sessions[ses.id] != ses || len(r.forgot) > 0 {
		t.Errorf("%d sessions are stored, %q were removed", len(s.sessions), r.forgot)
	}
	s.leave(ses)
	s.expire(ses, left)
	if s.sessions[ses.id] != ses || len(r.forgot) > 0 {
		t.Errorf("after a second leave: %d sessions are stored, %q were removed", len(s.sessions), r.forgot)
	}
	s.expire(ses, ses.left)
	if len(s.sessions) > 0 || len(r.forgot) != 1 || r.forgot[0] != ses.id {
		t.Errorf("after the expiry: %d sessions are stored, %q were removed", len(s.sessions), r.forgot)
	}
}

// Evals run in the order of arrival.
func TestEvalsKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(backend{&runtime{counts: map[string]int{}}}, time.Minute)
		defer s.Close()
		c := dial(t, s)
		play(t, c, "", hi, hello1)
		for i := range 200 {
			play(t, c, "", fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":"eval","params":{"code":"count"}}`, i))
		}
		for i := range 200 {
			play(t, c, "", fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"result":{"value":%d}}`, i, i+1))
		}
	})
}

// A closed server keeps no session for a resume, and passes none to the closed runtime.
func TestClosedServerKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &runtime{}
		s := newServer(backend{r}, time.Minute)
		left, held := s.join(""), s.join("")
		s.leave(left)
		testkit.OK(t, s.Close())
		s.leave(held)
		late := s.join(left.id)
		s.leave(late)
		time.Sleep(time.Hour)
		if late == left || len(s.sessions) != 0 || len(r.forgot) != 0 {
			t.Errorf("%d sessions are stored, %q were removed", len(s.sessions), r.forgot)
		}
	})
}

// A function that the user has released is not released again when the connection ends.
func TestReleasedByHand(t *testing.T) {
	c := NewCodec(dialect.CodecOptions{}).(*codec)
	c.refs.hold([]byte(`[{"$fn":"f1"},{"$fn":"f2"}]`))
	if _, err := c.Encode(dialect.Op{Kind: dialect.Raw, Params: json.RawMessage(`{"jsonrpc":"2.0","method":"release_ref","params":{"ref":"f1"}}`)}); err != nil {
		t.Fatal(err)
	}
	if ids := c.refs.held(); len(ids) != 1 || ids[0] != "f2" {
		t.Errorf("released at the end: %q, want only f2", ids)
	}
}

// Code can call a client's bindings by name: each name once, and not more than maxDeclared.
func TestDeclared(t *testing.T) {
	if got := declared([]byte(`[{"name":"b"},{"name":""},{},{"name":"a"},{"name":"b"},7]`)); fmt.Sprint(got) != "[b a]" {
		t.Errorf("%q", got)
	}
	var many []string
	for i := range maxDeclared + 1 {
		many = append(many, fmt.Sprintf(`{"name":"n%d"}`, i))
	}
	if n := len(declared([]byte("[" + strings.Join(many, ",") + "]"))); n != maxDeclared {
		t.Errorf("%d bindings", n)
	}
}
