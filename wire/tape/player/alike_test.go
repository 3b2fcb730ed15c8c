package player

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// Of recorded requests that differ only in times or redacted values, the first unused one is played. When all are used, the last
// one is repeated.
func TestServeAlike(t *testing.T) {
	const (
		plain  = `> {"jsonrpc":"2.0","id":%[1]d,"method":"login","params":{"password":"p","at":"2026-01-01T00:00:00Z"}}`
		hidden = `> {"jsonrpc":"2.0","id":%[1]d,"method":"login","params":{"password":"…","at":"2026-01-01T00:00:00Z"}}`
		other  = `> {"jsonrpc":"2.0","id":%[1]d,"method":"login","params":{"password":"…","of":"another","at":"2026-01-01T00:00:00Z"}}`
	)
	for _, requests := range [][]string{{plain, hidden}, {hidden, plain}, {other, hidden, plain}, {hidden, hidden}, {plain, plain}, {other, hidden}} {
		var tape strings.Builder
		var want []int
		for i, request := range requests {
			fmt.Fprintf(&tape, request+"\n"+`< {"jsonrpc":"2.0","id":%[1]d,"result":%[1]d}`+"\n", i)
			if request != other {
				want = append(want, i)
			}
		}
		want = append(want, want[len(want)-1])
		found := serve(t, tape.String(), Options{}, func(p peer) {
			for id, result := range want {
				p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"login","params":{"password":"p","at":"2026-11-23T10:00:00Z"}}`, id))
				p.hear(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%d}`, id, result))
			}
		})
		if len(found) > 0 {
			t.Errorf("%s:\n%s", tape.String(), texts(found))
		}
	}
}

// A stream that starts before the tape begins with its first recorded item.
func TestStreamsOfItems(t *testing.T) {
	item := func(stream string, n int) string {
		return fmt.Sprintf(`< {"jsonrpc":"2.0","method":"x_subscription","params":{"subscription":%q,"result":%d}}`+"\n", stream, n)
	}
	tape := item("a", 1) + item("b", 1) + item("a", 2) + item("b", 3)
	if found := differences(t, read(t, tape), read(t, item("p", 1)+item("q", 1)+item("p", 2)+item("q", 3))); len(found) > 0 {
		t.Error(texts(found))
	}
	found := differences(t, read(t, tape), read(t, item("p", 1)+item("q", 1)+item("q", 2)+item("p", 3)))
	testkit.Expect(t, "differences", texts(found), "differs 4 /params/result 2 3 \ndiffers 5 /params/result 3 2 \n")
	nameless := `< {"jsonrpc":"2.0","method":"x_subscription","params":{"result":1}}` + "\n"
	found = differences(t, read(t, nameless+item("a", 2)), read(t, item("p", 1)+item("p", 2)))
	testkit.Expect(t, "differences", texts(found), "differs 2 /params/subscription  \"p\" \n")
}

// Over HTTP, a notification must have arrived before the next message is sent, which could overtake it.
func TestClientPostsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tape := read(t, `
> {"jsonrpc":"2.0","method":"one"}
> {"jsonrpc":"2.0","method":"two"}`)
		here, _ := transport.Pair()
		sent, over, done := make(chan string, 2), make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := Client(t.Context(), tape, 0, exchanging{here, func(msg []byte, _ func([]byte)) error {
				sent <- string(msg)
				<-over
				return nil
			}}, Options{})
			done <- err
		}()
		for _, method := range []string{"one", "two"} {
			synctest.Wait()
			if want := `{"jsonrpc":"2.0","method":"` + method + `"}`; len(sent) != 1 || <-sent != want {
				t.Errorf("the only message sent is not %s", method)
			}
			over <- struct{}{}
		}
		testkit.OK(t, <-done)
	})
}
