package peer_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/peer"
	"rpcx/wire/testkit"
)

// A call that is cancelled while it waits for room in the outbox is not sent.
func TestACallCancelledBeforeThereIsRoomIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, far := paired(t, peer.Options{})
		large := []byte(`["` + strings.Repeat("x", 64<<10) + `"]`)
		go func() { // fills the outbox
			for range 200 {
				_, _ = p.Open(t.Context(), dialect.Op{Kind: dialect.Call, Method: "large", Params: large})
			}
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Open(ctx, dialect.Op{Kind: dialect.Call, Method: "cancelled"}); err == nil {
			t.Fatal("a message was sent although there is no room")
		}
		for read := 0; read < 200; {
			msg, err := far.Recv()
			testkit.OK(t, err)
			if bytes.Contains(msg, []byte("cancelled")) {
				t.Fatalf("the peer received %s", msg)
			}
			read += bytes.Count(msg, []byte(`"large"`))
		}
	})
}

// Each call in a pipeline can open a stream.
func TestEachCallOfAPipelineIsPromoted(t *testing.T) {
	m := &mirror{come: make(chan [][]byte, 64), answer: func([]byte) []byte { return nil }}
	p := peer.New(m, jsonrpc.NewCodec(jsonrpc.Options{}), peer.Options{})
	defer p.Close()
	l := p.Pipeline(4, func() {})
	for id := 1; id <= 64; id++ {
		c := send(t, l, "a", true)
		l.Flush()
		l.Promote(c)
		m.come <- [][]byte{fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":7}`, id)}
		testkit.Expect(t, fmt.Sprint("call ", id), <-c.got, "stream: 7")
	}
	close(m.come)
}

// An error ends a subscription, even one that outlives its done event.
func TestAnErrorEndsALastingSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, far := paired(t, peer.Options{})
		st, err := p.Open(t.Context(), dialect.Op{Kind: dialect.Subscribe, Method: "m", Lasting: true})
		testkit.OK(t, err)
		testkit.OK(t, far.Send([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":5,"message":"no"}}`)))
		if m, err := st.Next(t.Context()); err != nil || m.Err == nil {
			t.Error(m, err)
		}
		testkit.Expect(t, "the end", testkit.Next(t, st), "failed: EOF")
	})
}
