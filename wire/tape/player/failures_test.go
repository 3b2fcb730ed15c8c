package player

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

var errBroken = errors.New("broken")

// A failing is a tape, a writer and a connection that fails when left is 0.
type failing struct {
	*bytes.Reader
	wire.Conn
	left   int
	failed bool
}

func (f *failing) use() error {
	if f.left == 0 {
		f.failed = true
		return errBroken
	}
	f.left--
	return nil
}

func (f *failing) Read(b []byte) (int, error)  { return f.Reader.Read(b) }
func (f *failing) Write(b []byte) (int, error) { return len(b), f.use() }
func (f *failing) Close() error                { return nil }

func (f *failing) ReadAt(b []byte, at int64) (int, error) {
	if err := f.use(); err != nil {
		return 0, err
	}
	return f.Reader.ReadAt(b, at)
}

func (f *failing) Send(msg []byte) error {
	if err := f.use(); err != nil || f.Conn == nil {
		return err
	}
	return f.Conn.Send(msg)
}

func (f *failing) Recv() ([]byte, error) {
	if f.Conn == nil {
		return nil, errBroken
	}
	return f.Conn.Recv()
}

// If a tape can no longer be read at any point, that is an error of each use.
func TestUnreadableTape(t *testing.T) {
	const text = `{"tape":1}
{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a","params":{"password":"…1"}}}
{"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":"…2"}}
{"dir":"send","msg":{"jsonrpc":"2.0","id":2,"method":"b"}}
{"dir":"recv","msg":{"jsonrpc":"2.0","id":2,"result":[1,2,3,4]}}
`
	whole := load(t, []byte(strings.Replace(text, `"b"`, `"c"`, 1)))
	set := Options{Set: map[string]json.RawMessage{"password": []byte("1")}}
	for name, use := range map[string]func(tr *transcript.Transcript) error{
		"diff":   func(tr *transcript.Transcript) error { _, err := Diff(whole, tr, set); return err },
		"check":  func(tr *transcript.Transcript) error { return CheckClient(tr, set) },
		"update": func(tr *transcript.Transcript) error { return Update(io.Discard, tr, nil) },
		"client": func(tr *transcript.Transcript) error {
			here, there := transport.Pair()
			defer there.Close()
			_, err := Client(t.Context(), tr, 0, here, Options{AnswerTimeout: time.Nanosecond, Linger: time.Nanosecond})
			return err
		},
	} {
		f := &failing{Reader: bytes.NewReader([]byte(text)), left: -1}
		tr, err := transcript.Read(f, "x.tape", rules)
		testkit.OK(t, err)
		for n := 0; ; n++ {
			f.left, f.failed = n, false
			if err := use(tr); !f.failed {
				testkit.OK(t, err)
				break
			} else if err == nil || !strings.Contains(err.Error(), "reading the tape x.tape: broken") {
				t.Errorf("%s after %d reads: %v", name, n, err)
				break
			}
			if name == "client" {
				break
			}
		}
	}
	if err := Update(&failing{}, whole, nil); err != errBroken {
		t.Error(err)
	}
}

// A connection that fails other than by closing is the error of its conversation, which ends the other connections.
func TestBrokenConnections(t *testing.T) {
	const request = `> {"jsonrpc":"2.0","id":1,"method":"a"}`
	synctest.Test(t, func(t *testing.T) {
		here, there := transport.Pair()
		defer there.Close()
		for _, c := range []wire.Conn{&failing{Conn: here}, &failing{left: -1}, exchanging{here, func([]byte, func([]byte)) error { return errBroken }}} {
			if _, err := Client(t.Context(), read(t, request), 0, c, Options{}); err != errBroken {
				t.Errorf("%T: %v", c, err)
			}
		}
		var opened []int
		lines := `{"conn":1,"open":{}}
{"conn":2,"open":{}}
{"conn":3,"open":{}}`
		_, err := Clients(t.Context(), read(t, lines), Options{}, true, func(_ context.Context, n int, _ Options) ([]*Found, error) {
			if opened = append(opened, n); n == 1 {
				return nil, errBroken
			}
			return nil, nil
		})
		if err != errBroken || !slices.Equal(opened, []int{0, 1}) {
			t.Errorf("%v, opened %v", err, opened)
		}
	})
}

// An exchanging is an HTTP connection.
type exchanging struct {
	wire.Conn
	exchange func(msg []byte, recv func([]byte)) error
}

func (e exchanging) Exchange(_ context.Context, msg []byte, recv func([]byte)) error {
	return e.exchange(msg, recv)
}

// An error without an id is the response to the POST.
func TestErrorWithoutID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, _ := transport.Pair()
		tr := read(t, `
> {"jsonrpc":"2.0","id":1,"method":"a"}
< {"jsonrpc":"2.0","id":1,"error":{"code":-32700,"message":"no"}}`)
		found, err := Client(t.Context(), tr, 0, exchanging{here, func(_ []byte, recv func([]byte)) error {
			recv([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`))
			return nil
		}}, Options{})
		if err != nil || len(found) > 0 {
			t.Error(texts(told(found)), err)
		}
	})
}

// A closing is the connection of a client, which stores how it was closed.
type closing struct {
	wire.Conn
	how string
}

func (c *closing) CloseWith(code int, reason string) error {
	c.how = fmt.Sprint(code, " ", reason)
	return c.Conn.Close()
}

func (c *closing) Close() error {
	if c.how == "" {
		c.how = "closed"
	}
	return c.Conn.Close()
}

// The played server closes with the code with which the recorded server closed, if a program chose it.
func TestServeCloses(t *testing.T) {
	for line, want := range map[string]string{
		`{"dir":"recv","close":{"code":3000,"reason":"bye"}}`: "3000 bye",
		`{"dir":"recv","close":{"code":2999,"reason":"bye"}}`: "closed",
		`{"dir":"send","close":{"code":3000,"reason":"bye"}}`: "closed",
		`{"open":{}}`:  "closed",
		`{"note":"x"}`: "closed",
	} {
		synctest.Test(t, func(t *testing.T) {
			s, err := NewServer(read(t, line), Options{})
			testkit.OK(t, err)
			here, there := transport.Pair()
			_ = here.Close()
			c := &closing{Conn: there}
			if err := s.Serve(t.Context(), c); err != nil || c.how != want {
				t.Errorf("%s: %q, %v", line, c.how, err)
			}
		})
	}
}

// The played server closes where the recorded server did, when everything before has been played.
func TestServeClosesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := NewServer(read(t, `{"dir":"send","msg":{"id":1,"method":"a"}}
{"dir":"recv","msg":{"id":1,"result":1}}
{"dir":"send","msg":{"method":"exit"}}
{"dir":"recv","close":{"clean":true,"child":{"exit":0}}}`), Options{})
		testkit.OK(t, err)
		here, there := transport.Pair()
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(t.Context(), there) }()
		p := peer{t, here}
		p.say(`{"id":7,"method":"a"}`)
		p.hear(`{"id":7,"result":1}`)
		synctest.Wait()
		if err := here.Send([]byte(`{"method":"exit"}`)); err != nil {
			t.Fatal("closed before the last message: ", err)
		}
		testkit.OK(t, <-ended)
		if _, err := here.Recv(); err == nil {
			t.Error("a message arrived after the end")
		}
	})
}

// Without messages, the played server closes at once, unless the recorded client could not connect.
func TestServeClosesWithoutMessages(t *testing.T) {
	for line, closes := range map[string]bool{
		`{"dir":"recv","close":{"code":1000,"clean":true}}`:                     true,
		`{"dir":"recv","close":{"error":"gone","child":{"exit":1}}}`:            true,
		`{"dir":"recv","close":{"error":"cannot connect: connection refused"}}`: false,
		`{"dir":"send","close":{"clean":true}}`:                                 false,
	} {
		synctest.Test(t, func(t *testing.T) {
			s, err := NewServer(read(t, `{"t":0,"open":{}}`+"\n"+line), Options{})
			testkit.OK(t, err)
			here, there := transport.Pair()
			ended := make(chan error, 1)
			go func() { ended <- s.Serve(t.Context(), there) }()
			synctest.Wait()
			testkit.Expect(t, line, len(ended) == 1, closes)
			_ = here.Close()
			synctest.Wait()
		})
	}
}

// A single is the connection of a POST to the played server.
type single struct{ *closing }

func (single) SingleExchange() {}

// All POSTs share one conversation, in which a used request is repeated. It ends with its context.
func TestServePosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := NewServer(read(t, orders), Options{})
		testkit.OK(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		post := func() (client wire.Conn, c *closing, done chan error) {
			here, there := transport.Pair()
			c, done = &closing{Conn: there}, make(chan error, 1)
			go func() { done <- s.Serve(ctx, single{c}) }()
			return here, c, done
		}
		for _, want := range []string{"10", "20", "20"} {
			client, _, done := post()
			p := peer{t, client}
			p.say(`{"jsonrpc":"2.0","id":7,"method":"get","params":{"id":"a","n":1}}`)
			p.hear(`{"jsonrpc":"2.0","id":7,"result":` + want + `}`)
			testkit.OK(t, <-done)
		}
		open, late, lateDone := post()
		synctest.Wait()
		cancel()
		synctest.Wait()
		_ = open.Send([]byte(`{"jsonrpc":"2.0","id":8,"method":"list"}`))
		_, after, afterDone := post()
		if err := errors.Join(<-lateDone, <-afterDone); err != nil || late.how != "closed" || after.how != "closed" {
			t.Errorf("%v, %q, %q", err, late.how, after.how)
		}
	})
}

// Names of bound values differ from each other and from those on the tape. Values that cannot be bound stay.
func TestBindVarying(t *testing.T) {
	tr := load(t, []byte(`{"tape":1}
{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a"}}
{"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":{"n":1,"a":{"n":2},"0":[3,4],"o":{}}},"bind":{"n":".result.n"}}
`))
	differs := func(pointer, want, got string) *Found {
		return &Found{Difference: match.Difference{Kind: match.Differs, Line: 3, Pointer: pointer, Want: []byte(want), Got: []byte(got)}, entry: 1}
	}
	results := [][]*Found{{
		differs("/result/a/n", "2", "5"), differs("/result/0/0", "3", "5"), differs("/result/0/1", "4", "5"), differs("/result/o", "{}", "[]"), differs("/result/n", "1", `"1"`),
	}}
	var out strings.Builder
	if err := BindVarying(&out, tr, results); err != nil || !Varying(tr, results) || Varying(tr, [][]*Found{results[0][3:]}) {
		t.Error(err)
	}
	want := `"bind":{"n":".result.n","n_2":".result.a.n","value":".result.[\"0\"][0]","value_2":".result.[\"0\"][1]"}`
	if !strings.Contains(out.String(), want) {
		t.Errorf("got\n%s", out.String())
	}
}
