package session

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// A hook can call the client of its POST: the response to the POST carries the request, and another POST by the same client carries
// the response.
func TestAsksInsideAnExchange(t *testing.T) {
	w := newWorld(t, "")
	s, err := Listen(t.Context(), w.endpoint("http://127.0.0.1:0/"), w.options([]string{`ask=jq:[rpc("q"; .), rpc("q"; [2])]`}))
	testkit.OK(t, err)
	testkit.Serve(t, s)
	client := &mcpClient{t: t, url: s.Endpoint()}
	asking, _ := client.do(http.MethodPost, `{"jsonrpc":"2.0","id":"a","method":"ask","params":[1]}`)
	events := eventsOf(t, asking)
	for _, answer := range []string{`"first"`, `"second"`} {
		var q struct {
			ID     string
			Method string
		}
		if said := events.next(); json.Unmarshal([]byte(said), &q) != nil || q.Method != "q" || len(q.ID) < 32 {
			t.Fatal(said)
		}
		for _, guess := range []string{`1`, `"1"`, `"a"`, `"` + strings.Repeat("0", 32) + `"`} {
			client.do(http.MethodPost, `{"jsonrpc":"2.0","id":`+guess+`,"result":"guessed"}`)
		}
		if got, _ := client.do(http.MethodPost, `{"jsonrpc":"2.0","id":"`+q.ID+`","result":`+answer+`}`); got.StatusCode/100 != 2 {
			t.Error(got.Status)
		}
	}
	testkit.Expect(t, "the response", events.next(), `{"jsonrpc":"2.0","id":"a","result":["first","second"]}`)

	// A client that accepts only JSON gets no requests.
	client.answer(`"code":-32603`, `{"jsonrpc":"2.0","id":1,"method":"ask"}`, "Accept", "application/json")
}

// A lazyListener accepts one more connection while its server stops.
type lazyListener struct {
	transport.Listener
	accepting, closed chan struct{}
	done              func() bool
	conn              wire.Conn
}

func (l *lazyListener) Accept() (wire.Conn, error) {
	l.accepting <- struct{}{}
	<-l.closed
	for !l.done() {
		time.Sleep(time.Millisecond)
	}
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l *lazyListener) Close() error { close(l.closed); return l.Listener.Close() }

// A closeNotifier sends its close code to a channel.
type closeNotifier struct {
	wire.Conn
	code chan int
}

func (c *closeNotifier) CloseWith(code int, _ string) error { c.code <- code; return c.Close() }

// A client that connects while the server stops gets the same close code as the others, and Close waits for it.
func TestLateClientGetsTheCloseCode(t *testing.T) {
	e, err := ParseEndpoint("ws://127.0.0.1:0/", "")
	testkit.OK(t, err)
	s, err := Listen(t.Context(), e, Options{})
	testkit.OK(t, err)
	here, there := transport.Pair()
	defer there.Close()
	c := &closeNotifier{here, make(chan int, 9)}
	lazy := &lazyListener{Listener: s.listener, accepting: make(chan struct{}, 9), closed: make(chan struct{}), conn: c, done: func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.done
	}}
	s.listener = lazy
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	<-lazy.accepting
	_ = s.Close()
	select {
	case code := <-c.code:
		testkit.Expect(t, "the code of the close", code, goingAway)
	default:
		t.Error("Close did not wait for the last client")
	}
	testkit.OK(t, <-served)
}
