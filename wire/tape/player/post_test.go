package player

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/tape/match"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// An asker is an HTTP server that answers the client's request with requests without end, and does not respond to a POST with a response.
type asker struct {
	ended chan struct{}
	mu    sync.Mutex
	asked int
	close func()
}

func newAsker() *asker {
	a := &asker{ended: make(chan struct{})}
	a.close = sync.OnceFunc(func() { close(a.ended) })
	return a
}

func (a *asker) Recv() ([]byte, error) { <-a.ended; return nil, io.EOF }
func (a *asker) Send([]byte) error     { return errors.New("it is sent by POST") }
func (a *asker) Close() error          { a.close(); return nil }

func (a *asker) Exchange(_ context.Context, msg []byte, recv func([]byte)) error {
	if string(msg) == `{"id":1,"method":"get"}` {
		for i := range 10_000 {
			select {
			case <-a.ended:
				return nil
			default:
			}
			a.mu.Lock()
			a.asked = i
			a.mu.Unlock()
			recv(fmt.Appendf(nil, `{"id":"q%d","method":"whoami"}`, i))
		}
	}
	<-a.ended
	return nil
}

// A server that sends requests without end and accepts no response is read up to a limit, and then counts as silent.
func TestClientIsFlooded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := read(t, `{"dir":"send","msg":{"id":1,"method":"get"}}
{"dir":"recv","msg":{"id":1,"result":2}}
`)
		a := newAsker()
		if _, err := Client(t.Context(), tr, 0, a, Options{AnswerTimeout: time.Second}); err != nil {
			t.Fatal(err)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.asked < maxPosts || a.asked > maxPosts+2 {
			t.Errorf("%d requests were read, with room for %d responses", a.asked, maxPosts)
		}
	})
}

// A message that follows a notification waits for the notification's POST, but not for other POSTs. The server sends a request while
// it handles the notification, and the POST with the notification ends long after the POST with the response.
func TestRefusalWhileNotified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := read(t, `{"dir":"send","msg":{"method":"n"}}
{"dir":"send","msg":{"id":2,"method":"get"}}
{"dir":"recv","msg":{"id":2,"result":2}}
`)
		here, _ := transport.Pair()
		refused := make(chan struct{})
		var taken atomic.Bool // the notification has arrived
		found, err := Client(t.Context(), tr, 0, exchanging{here, func(msg []byte, recv func([]byte)) error {
			switch {
			case bytes.Contains(msg, []byte(`"error"`)):
				close(refused)
			case bytes.Contains(msg, []byte(`"n"`)):
				recv([]byte(`{"id":"q","method":"whoami"}`))
				<-refused
				synctest.Wait()
				taken.Store(true)
			case bytes.Contains(msg, []byte(`"get"`)):
				if !taken.Load() {
					t.Error("the request overtook the notification")
				}
				recv([]byte(`{"id":2,"result":2}`))
			}
			return nil
		}}, Options{})
		testkit.OK(t, err)
		if len(found) != 1 || found[0].Kind != match.Extra {
			t.Error(texts(told(found)))
		}
	})
}

// If the differences exceed the memory limit, the conversation ends.
func TestDifferencesAreBounded(t *testing.T) {
	e := &engine{}
	k := &checking{e: e, pairing: pairing{found: map[int32][]*Found{}}}
	big := make([]byte, maxKept/2)
	for range 2 {
		if k.bound(); e.failure != nil {
			t.Fatal(e.failure)
		}
		k.addExtra(&Found{msg: big})
	}
	if k.bound(); wire.AsFault(e.failure) == nil || wire.AsFault(e.failure).Kind != wire.Expectation {
		t.Error(e.failure)
	}
}
