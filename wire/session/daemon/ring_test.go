package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// ringOf returns a ring for count messages with a total of most bytes.
func ringOf(most, count int) *ring { return &ring{most: most, count: count, first: 1} }

func item(method, raw string) wire.Message {
	return wire.Message{Kind: wire.Item, Method: method, Raw: []byte(raw), Body: []byte(raw)}
}

// shown returns a message in a ring as users see it.
func shown(m *wire.Message, ev *wire.Event) error {
	if *ev = (wire.Event{Kind: wire.Data, Data: m.Body}); m.Event != nil {
		*ev = *m.Event
	}
	return nil
}

// told returns the next n events of a stream as text: a number and the data, or a gap.
func told(t *testing.T, st *ringStream, n int) (all []string) {
	t.Helper()
	for range n {
		m, err := st.Next(t.Context())
		switch {
		case err != nil:
			all = append(all, err.Error())
		case m.Event.Kind == wire.Gap:
			all = append(all, fmt.Sprintf("gap %d", m.Event.Missed))
		case m.Event.Kind != wire.Data:
			all = append(all, m.Event.Kind.String())
		default:
			all = append(all, fmt.Sprintf("%s %s", m.Event.Seq, m.Event.Data))
		}
	}
	return all
}

func after(t *testing.T, r *ring, since int64, method string) *ringStream {
	t.Helper()
	st, err := r.after(since, method, shown)
	testkit.OK(t, err)
	return st
}

func TestRingKeepsTheNewest(t *testing.T) {
	for name, tt := range map[string]struct {
		most, count int
		want        string
	}{
		"a limit on messages":               {100, 2, "[gap 3 4 ddd 5 eee]"},
		"a limit on bytes":                  {7, 100, "[gap 3 4 ddd 5 eee]"},
		"the newest message is always kept": {1, 100, "[gap 4 5 eee]"},
		"no limit reached":                  {100, 5, "[1 aaa 2 bbb 3 ccc 4 ddd 5 eee]"},
	} {
		t.Run(name, func(t *testing.T) {
			r := ringOf(tt.most, tt.count)
			for _, s := range []string{"aaa", "bbb", "ccc", "ddd", "eee"} {
				r.add(item("m", s))
			}
			r.end(io.EOF)
			first, last, bytes := r.bounds()
			got := told(t, after(t, r, 0, ""), int(last-first)+1+min(1, int(first-1)))
			testkit.Expect(t, "kept", fmt.Sprint(got), tt.want)
			testkit.Expect(t, "stored bytes", bytes, 3*int(last-first+1))
		})
	}
}

// Reading after the latest number waits for the next message. A larger number is rejected. A number before the first message causes no gap.
func TestRingAfter(t *testing.T) {
	r := ringOf(100, 100)
	for _, s := range []string{"a", "b", "c"} {
		r.add(item(s, s))
	}
	testkit.Expect(t, "after 1", fmt.Sprint(told(t, after(t, r, 1, ""), 2)), "[2 b 3 c]")
	testkit.Expect(t, "after -7", fmt.Sprint(told(t, after(t, r, -7, ""), 1)), "[1 a]")
	testkit.Expect(t, "only method b", fmt.Sprint(told(t, after(t, r, 0, "b"), 1)), "[2 b]")
	if _, err := r.after(4, "", shown); testkit.Failed(err) != "failed usage" {
		t.Errorf("after 4: %v", err)
	}
}

// Readers wait for messages independently. A slow reader gets the number of missed messages. The end is reported after the stored messages.
func TestRingIsReadAsItGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := ringOf(100, 2)
		slow := after(t, r, 0, "")
		got := make(chan []string)
		go func() { got <- told(t, after(t, r, 0, ""), 4) }()
		for _, s := range []string{"a", "b", "c"} {
			synctest.Wait()
			r.add(item("m", s))
		}
		synctest.Wait()
		r.end(errors.New("over"))
		testkit.Expect(t, "a reader that waits", fmt.Sprint(<-got), "[1 a 2 b 3 c over]")
		testkit.Expect(t, "a slow reader", fmt.Sprint(told(t, slow, 5)), "[gap 1 2 b 3 c over over]")
		slow.Cancel(t.Context())
		testkit.Expect(t, "a cancelled reader", fmt.Sprint(told(t, slow, 1)), "[EOF]")
	})
}

func TestRingReaderThatIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := after(t, ringOf(1, 1), 0, "").Next(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A message that cannot be decoded fails the reader.
func TestRingMessageWithoutEvent(t *testing.T) {
	r := ringOf(9, 9)
	r.add(item("a", "1"))
	st, _ := r.after(0, "", func(*wire.Message, *wire.Event) error { return io.ErrUnexpectedEOF })
	testkit.Expect(t, "the end", testkit.Next(t, st), "failed: unexpected EOF")
}
