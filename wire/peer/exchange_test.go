package peer_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/peer"
	"rpcx/wire/testkit"
)

// A poster is a connection of exchanges, in which the function answer is the peer.
type poster struct {
	answer func(ctx context.Context, msg string, say func(string)) error
	closed chan struct{}
	once   sync.Once
}

func (c *poster) Exchange(ctx context.Context, msg []byte, recv func([]byte)) error {
	return c.answer(ctx, string(msg), func(text string) {
		b := []byte(text)
		recv(b)
		for i := range b { // the bytes are valid only during the call
			b[i] = '!'
		}
	})
}

func (c *poster) Recv() ([]byte, error) {
	<-c.closed
	return nil, &wire.CloseError{Clean: true}
}
func (c *poster) Send([]byte) error { return errors.New("a poster has no Send") }
func (c *poster) Close() error      { c.once.Do(func() { close(c.closed) }); return nil }

// post returns a peer over exchanges.
func post(t *testing.T, o peer.Options, answer func(ctx context.Context, msg string, say func(string)) error) *peer.Peer {
	return newPeer(t, &poster{answer: answer, closed: make(chan struct{})}, o)
}

// id returns the id of a request.
func id(msg string) string {
	_, rest, _ := strings.Cut(msg, `"id":`)
	return rest[:1]
}

func TestExchangeCalls(t *testing.T) {
	tests := []struct {
		name, say string
		fail      error
		want      string
	}{
		{"answered", `{"jsonrpc":"2.0","id":1,"result":[1.10]}`, nil, `[1.10]`},
		{"an error", `{"jsonrpc":"2.0","id":1,"error":{"code":5,"message":"no"}}`, nil, "no (code 5)"},
		{"an error without an id belongs to its exchange", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`, nil, "Parse error (code -32700)"},
		{"nothing", ``, nil, "protocol: the HTTP response does not answer the request"},
		{"a response to another request", `{"jsonrpc":"2.0","id":9,"result":1}`, nil, "protocol: the HTTP response does not answer the request"},
		{"not JSON", `<html>`, nil, "protocol: the HTTP response does not answer the request: the peer sent a malformed message: Parse error (expected a JSON value at byte 0)"},
		{"the exchange fails", ``, wire.NewFault(wire.Auth, "401 Unauthorized", nil), "auth: 401 Unauthorized"},
		{"the exchange fails after the response", `{"id":1,"result":1}`, wire.NewFault(wire.Closed, "cut off", nil), "1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := post(t, peer.Options{}, func(_ context.Context, msg string, say func(string)) error {
					if test.say != "" {
						say(test.say)
					}
					return test.fail
				})
				result, err := p.Call(t.Context(), "x", nil)
				got := string(result)
				if err != nil {
					got = err.Error()
				}
				if f := wire.AsFault(err); f != nil {
					got = string(f.Kind) + ": " + got
					testkit.Expect(t, "the method of the fault", f.Method, "x")
				}
				testkit.Expect(t, "the outcome", got, test.want)
				testkit.OK(t, p.Err())
			})
		})
	}
}

// An exchange that fails or waits does not affect the others.
func TestExchangesSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := post(t, peer.Options{}, func(ctx context.Context, msg string, say func(string)) error {
			switch {
			case strings.Contains(msg, "bad"):
				return wire.NewFault(wire.Closed, "cut off", nil)
			case strings.Contains(msg, "hangs"):
				<-ctx.Done()
				return ctx.Err()
			}
			time.Sleep(time.Second)
			say(`{"id":` + id(msg) + `,"result":` + id(msg) + `}`)
			return nil
		})
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if _, err := p.Call(t.Context(), "good", nil); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Go(func() {
			if _, err := p.Call(t.Context(), "bad", nil); err == nil || err.Error() != "cut off" {
				t.Error(err)
			}
		})
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			if _, err := p.Call(ctx, "hangs", nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
		wg.Wait()
	})
}

// A POST's stream ends with its exchange, and the exchange ends with its stream.
func TestExchangeStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := false
		p := post(t, peer.Options{}, func(ctx context.Context, msg string, say func(string)) error {
			say(`{"method":"n","params":{"subscription":"s","result":"early"}}`)
			say(`{"id":` + id(msg) + `,"result":"s"}`)
			say(`{"method":"n","params":{"subscription":"s","result":2}}`)
			switch {
			case strings.Contains(msg, "done"):
				say(`{"method":"n","params":{"subscription":"s","done":true}}`)
			case strings.Contains(msg, "endless"):
				<-ctx.Done()
				left = true
				return ctx.Err()
			}
			return nil
		})
		for method, end := range map[string]string{
			"done":    "EOF",
			"cut":     "the stream ended with neither done nor error",
			"endless": "EOF",
		} {
			s := testkit.Start(t, p, dialect.Subscribe, method, "")
			var got []string
			for {
				m, err := s.Next(t.Context())
				if err != nil {
					testkit.Expect(t, "the end of "+method, err.Error(), end)
					break
				}
				ev, _ := dialect.EventOf(p.Connection().Codec, m)
				got = append(got, string(ev.Data))
				if method == "endless" && len(got) == 3 {
					_ = s.Cancel(t.Context())
				}
			}
			testkit.Expect(t, method, strings.Join(got[:3], " "), `"s" "early" 2`)
		}
		synctest.Wait()
		if !left {
			t.Error("the exchange of a cancelled stream did not end")
		}
	})
}

// The response to a request in a reply is sent in a POST.
func TestExchangeAnswersBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan string, 1)
		p := post(t, peer.Options{Handler: with(func(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
			return json.RawMessage(`"ours"`), nil
		})}, func(ctx context.Context, msg string, say func(string)) error {
			switch {
			case strings.Contains(msg, `"id":2,"result":"ours"`): // the answer to a request in the reply to an answer
				answers <- msg
				return nil
			case strings.Contains(msg, "ours"):
				say(`{"jsonrpc":"2.0","id":2,"method":"sampling"}`)
				return nil
			}
			say(`{"jsonrpc":"2.0","id":1,"method":"sampling"}`)
			say(`{"jsonrpc":"2.0","id":1,"result":` + <-answers + `}`)
			return nil
		})
		got, err := p.Call(t.Context(), "x", nil)
		if err != nil || string(got) != `{"jsonrpc":"2.0","id":2,"result":"ours"}` {
			t.Error(string(got), err)
		}
	})
}

// An error in the reply to a notification does not fail a call.
func TestExchangeNotify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := post(t, peer.Options{}, func(ctx context.Context, msg string, say func(string)) error {
			if strings.Contains(msg, "note") {
				say(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}`)
				return nil
			}
			time.Sleep(time.Second)
			say(`{"id":1,"result":1}`)
			return nil
		})
		s := testkit.Start(t, p, dialect.Call, "x", "")
		testkit.OK(t, p.Notify(t.Context(), dialect.Op{Kind: dialect.Notify, Method: "note"}))
		testkit.Expect(t, "the response", testkit.Next(t, s), "1")
	})
}

// Close ends exchanges that hang.
func TestExchangeClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := post(t, peer.Options{}, func(ctx context.Context, msg string, say func(string)) error {
			<-ctx.Done()
			return ctx.Err()
		})
		s := testkit.Start(t, p, dialect.Call, "x", "")
		p.Close()
		testkit.Expect(t, "the call", testkit.Next(t, s), "failed closed")
	})
}

// If the response to a cancelled call arrives before its exchange ends, it is dropped without a note.
func TestAnswerToACancelledCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notes []string
		said := make(chan struct{})
		p := post(t, peer.Options{Note: func(n peer.Note) { notes = append(notes, n.Text) }}, func(ctx context.Context, _ string, say func(string)) error {
			defer close(said)
			<-ctx.Done()
			say(`{"jsonrpc":"2.0","id":1,"result":1}`)
			return ctx.Err()
		})
		s := testkit.Start(t, p, dialect.Call, "x", "")
		testkit.OK(t, s.Cancel(t.Context()))
		<-said
		synctest.Wait()
		if len(notes) > 0 {
			t.Errorf("%q", notes)
		}
	})
}

// A canceller is a dialect that also sends cancels over HTTP.
type canceller struct{ dialect.Codec }

func (c canceller) Abilities() dialect.Abilities {
	a := c.Codec.Abilities()
	a.SendsCancel = true
	return a
}

func (c canceller) Encode(op dialect.Op) (wire.Message, error) {
	if op.Kind == dialect.Cancel {
		op = dialect.Op{Kind: dialect.Notify, Method: "cancel", Params: json.RawMessage(`[` + string(op.OfID) + `]`)}
	}
	return c.Codec.Encode(op)
}

// The peer gets one cancel of a call whose context has ended, whether its exchange ends before the call is cancelled or after.
func TestACallIsCancelledOnce(t *testing.T) {
	for _, first := range []string{"exchange", "call"} {
		t.Run(first, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release, cancels := make(chan struct{}), 0
				p := peer.New(&poster{closed: make(chan struct{}), answer: func(ctx context.Context, msg string, _ func(string)) error {
					if strings.Contains(msg, `"method":"cancel","params":[1]`) {
						cancels++
						return nil
					}
					<-ctx.Done()
					<-release
					return ctx.Err()
				}}, canceller{jsonrpc.NewCodec(jsonrpc.Options{})}, peer.Options{})
				ctx, cancel := context.WithCancel(t.Context())
				s, err := p.Open(ctx, dialect.Op{Kind: dialect.Call, Method: "x"})
				testkit.OK(t, err)
				cancel()
				if first == "exchange" {
					close(release)
					synctest.Wait()
				}
				if _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				testkit.OK(t, s.Cancel(t.Context()))
				if first == "call" {
					close(release)
				}
				p.Close()
				testkit.Expect(t, "cancel messages", cancels, 1)
			})
		})
	}
}

// When the session is lost, a message is sent again once, and the second result counts, even for messages without a response.
func TestExchangeAnewFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := wire.NewFault(wire.Auth, "401 Unauthorized", nil)
		sent := 0
		p := post(t, peer.Options{}, func(context.Context, string, func(string)) error {
			if sent++; sent%2 == 1 {
				return wire.NewFault(wire.Unreachable, "it has ended the session", wire.ErrSessionLost)
			}
			return refused
		})
		if err := p.Notify(t.Context(), dialect.Op{Kind: dialect.Notify, Method: "x"}); !errors.Is(err, refused) {
			t.Errorf("a notification: %v", err)
		}
		_, err := p.Call(t.Context(), "x", nil)
		testkit.Expect(t, "a call", testkit.Failed(err), "failed auth")
		testkit.Expect(t, "messages", sent, 4)
	})
}

// A refuser's handshake fails.
type refuser struct{ dialect.Codec }

func (r refuser) Abilities() dialect.Abilities {
	a := r.Codec.Abilities()
	a.Handshake = func(context.Context, dialect.Caller) error { return errors.New("refused") }
	return a
}

// A message is not sent again if the session cannot be renewed.
func TestSessionIsNotRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		p := peer.New(&poster{closed: make(chan struct{}), answer: func(context.Context, string, func(string)) error {
			sent++
			return wire.NewFault(wire.Unreachable, "it has ended the session", wire.ErrSessionLost)
		}}, refuser{jsonrpc.NewCodec(jsonrpc.Options{})}, peer.Options{Note: func(n peer.Note) { t.Error(n.Text) }})
		defer p.Close()
		_, err := p.Call(t.Context(), "x", nil)
		testkit.Expect(t, "the call", testkit.Failed(err), "failed unreachable")
		testkit.Expect(t, "messages", sent, 1)
	})
}

// A response without an id belongs to the array in whose reply it arrives, even if another array has waited longer.
func TestExchangeAnswersItsOwnArray(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := post(t, peer.Options{}, func(ctx context.Context, msg string, say func(string)) error {
			if strings.Contains(msg, "first") {
				time.Sleep(time.Second)
				say(`{"to":"first"}`)
				return nil
			}
			say(`{"to":"second"}`)
			return nil
		})
		var wg sync.WaitGroup
		for _, name := range []string{"first", "second"} {
			wg.Go(func() {
				s, err := p.Open(t.Context(), dialect.Op{Kind: dialect.Raw, Params: json.RawMessage(`[{"of":"` + name + `"}]`)})
				if err != nil {
					t.Error(err)
					return
				}
				if m, err := s.Next(t.Context()); err != nil || string(m.Raw) != `{"to":"`+name+`"}` {
					t.Errorf("%s: %s, %v", name, m.Raw, err)
				}
			})
			synctest.Wait()
		}
		wg.Wait()
	})
}

// If the session has expired, concurrent calls start one new session, and all of them succeed. A cancelled call does not wait for it.
func TestExchangesAnewTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := true
		var notes []string
		lost, noted := make(chan struct{}), make(chan struct{})
		p := post(t, peer.Options{Note: func(n peer.Note) {
			notes = append(notes, n.Text)
			<-noted
		}}, func(_ context.Context, msg string, say func(string)) error {
			if over || strings.Contains(msg, "cancelled") {
				<-lost
				return wire.NewFault(wire.Unreachable, "it has ended the session", wire.ErrSessionLost)
			}
			say(`{"jsonrpc":"2.0","id":` + id(msg) + `,"result":` + id(msg) + `}`)
			return nil
		})
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if got, err := p.Call(t.Context(), "x", nil); err != nil || string(got) != "1" && string(got) != "2" {
					t.Errorf("%s, %v", got, err)
				}
			})
		}
		synctest.Wait()
		over = false
		close(lost)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		s, _ := p.Open(ctx, dialect.Op{Kind: dialect.Call, Method: "cancelled"})
		synctest.Wait()
		cancel()
		if _, err := s.Next(t.Context()); err == nil {
			t.Error("a cancelled call has a response")
		}
		close(noted)
		wg.Wait()
		testkit.Expect(t, "notes", len(notes), 1)
	})
}

// A standing is a poster with an event stream.
type standing struct {
	*poster
	events chan string
}

func (standing) SetHeader(string, string)                  {}
func (standing) Mirror(func(msg []byte) map[string]string) {}
func (standing) ReadEvents(func())                         {}
func (standing) EndByDelete()                              {}
func (s standing) Recv() ([]byte, error) {
	select {
	case text := <-s.events:
		return []byte(text), nil
	case <-s.closed:
		return nil, &wire.CloseError{Clean: true}
	}
}

// subscribe returns a Peer with an event stream, and a stream whose first message, "s", has arrived.
func subscribe(t *testing.T, answer func(ctx context.Context, msg string, say func(string)) error) (*peer.Peer, dialect.Stream) {
	t.Helper()
	p := newPeer(t, standing{events: make(chan string, 1), poster: &poster{closed: make(chan struct{}), answer: answer}}, peer.Options{})
	p.Connection().HTTPSession.ReadEvents(func() {})
	s := testkit.Start(t, p, dialect.Subscribe, "s_subscribe", "")
	testkit.Expect(t, "the first message", testkit.Next(t, s), `"s"`)
	return p, s
}

// A stream whose items arrive on the event stream, after its own exchange has ended, is unsubscribed when it is cancelled.
func TestAStreamOfTheEventStreamIsUnsubscribed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var posted []string
		_, s := subscribe(t, func(_ context.Context, msg string, say func(string)) error {
			posted = append(posted, msg)
			say(`{"jsonrpc":"2.0","id":` + id(msg) + `,"result":"s"}`)
			return nil
		})
		synctest.Wait() // the exchange has ended
		testkit.OK(t, s.Cancel(t.Context()))
		synctest.Wait()
		if want := `{"jsonrpc":"2.0","id":2,"method":"s_unsubscribe","params":["s"]}`; len(posted) != 2 || posted[1] != want {
			t.Errorf("posted %q, want %s", posted, want)
		}
	})
}

// A stream of a session that was lost ends, even if its own exchange ends only after the session was renewed.
func TestAStreamOfALostSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, subscribed := 0, make(chan struct{})
		p, s := subscribe(t, func(_ context.Context, msg string, say func(string)) error {
			if strings.Contains(msg, "s_subscribe") {
				say(`{"jsonrpc":"2.0","id":` + id(msg) + `,"result":"s"}`)
				<-subscribed
				return nil
			}
			if calls++; calls == 1 {
				return wire.NewFault(wire.Unreachable, "it has ended the session", wire.ErrSessionLost)
			}
			say(`{"jsonrpc":"2.0","id":` + id(msg) + `,"result":1}`)
			return nil
		})
		testkit.Expect(t, "the call", testkit.Call(t, p, "x", ""), "1")
		close(subscribed)
		testkit.Expect(t, "the end of the stream", testkit.Next(t, s), "failed closed")
	})
}

// A response to the peer that cannot be posted is noted.
func TestExchangesNoteUnsentResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notes []string
		p := post(t, peer.Options{
			Handler: with(func(_ context.Context, in *dialect.Inbound) (json.RawMessage, error) { return in.Msg.Params, nil }),
			Note:    func(n peer.Note) { notes = append(notes, n.Text) },
		}, func(_ context.Context, msg string, say func(string)) error {
			if !strings.Contains(msg, `"method"`) {
				return wire.NewFault(wire.Closed, "cut off", nil)
			}
			say(`{"jsonrpc":"2.0","id":9,"method":"q"}`)
			say(`{"jsonrpc":"2.0","id":` + id(msg) + `,"result":"s"}`)
			return nil
		})
		s := testkit.Start(t, p, dialect.Subscribe, "s_subscribe", "")
		testkit.Expect(t, "the first message", testkit.Next(t, s), `"s"`)
		synctest.Wait()
		if text := strings.Join(notes, "|"); !strings.Contains(text, "a response was not sent: cut off") {
			t.Error(text)
		}
	})
}
