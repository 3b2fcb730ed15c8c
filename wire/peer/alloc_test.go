package peer_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/peer"
	"rpcx/wire/testkit"
)

// faucet is a connection that returns msg a given number of times, and then calls OnIdle until there is more.
type faucet struct {
	first [][]byte
	msg   []byte
	more  chan int
	idle  func()
	left  int
	sent  chan struct{}
}

func newFaucet(msg string, first ...string) *faucet {
	f := &faucet{msg: []byte(msg), more: make(chan int), sent: make(chan struct{}, 1)}
	for _, m := range first {
		f.first = append(f.first, []byte(m))
	}
	return f
}

func (f *faucet) OnIdle(g func()) { f.idle = g }

func (f *faucet) Recv() ([]byte, error) {
	if f.left == 0 {
		f.idle()
		n, ok := <-f.more
		if !ok {
			return nil, io.EOF
		}
		f.left = n
	}
	f.left--
	if len(f.first) > 0 {
		m := f.first[0]
		f.first = f.first[1:]
		return m, nil
	}
	return f.msg, nil
}

func (f *faucet) Send([]byte) error {
	select {
	case f.sent <- struct{}{}:
	default:
	}
	return nil
}
func (f *faucet) Close() error { return nil }

var item = `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0xcd0c3e8af590364c09d0fa6a1210faf5","result":{"number":"0x1b4","hash":"` + strings.Repeat("8f", 32) + `","size":"0x220","gasUsed":"0x5208","ok":true}}}`

// openFaucet starts a stream over a faucet.
func openFaucet(tb testing.TB, c dialect.Codec, op dialect.Op) (*faucet, *peer.Peer, dialect.Stream) {
	f := newFaucet(item, `{"jsonrpc":"2.0","id":1,"result":"0xcd0c3e8af590364c09d0fa6a1210faf5"}`)
	p := peer.New(f, c, peer.Options{})
	s, err := p.Open(tb.Context(), op)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { close(f.more); p.Close() })
	f.more <- 1
	if op.Kind != dialect.Watch {
		read(tb, p, s, 1)
	}
	return f, p, s
}

func read(tb testing.TB, p *peer.Peer, s dialect.Stream, n int) {
	tb.Helper()
	var m wire.Message
	var ev wire.Event
	for range n {
		var err error
		if m, err = s.Next(context.Background()); err != nil {
			tb.Fatal(err)
		}
		if err := p.Connection().Codec.Event(&m, &ev); err != nil {
			tb.Fatal(err)
		}
	}
}

func TestStreamAllocatesNothing(t *testing.T) {
	testkit.RaceSkips(t)
	subscribe, watch := dialect.Op{Kind: dialect.Subscribe, Method: "eth_subscribe"}, dialect.Op{Kind: dialect.Watch, Method: "eth_subscription"}
	for name, c := range map[string]struct {
		page string // "" means JSON-RPC
		op   dialect.Op
		most float64
	}{
		"subscribe": {op: subscribe},
		"watch":     {op: watch},
		"watch with a dialect file that renames members": {page: pageOfNames, op: watch},
		"subscribe with a dialect file":                  {page: pageOfNames + "[subscribe.eth_subscribe]\nitem = { method = 'eth_subscription' }\n", op: subscribe, most: 1}, // the stream's name is in no message
	} {
		t.Run(name, func(t *testing.T) {
			codec := jsonrpc.NewCodec(jsonrpc.Options{})
			if c.page != "" {
				codec = spoken(t, c.page)
			}
			f, p, s := openFaucet(t, codec, c.op)
			const n = 1000
			once := func() {
				f.more <- n
				read(t, p, s, n)
			}
			for range 20 {
				once()
			}
			if got := testing.AllocsPerRun(50, once) / n; got > c.most+0.01 {
				t.Errorf("%.3f allocations per message", got)
			}
		})
	}
}

func BenchmarkStream(b *testing.B) {
	f, p, s := openFaucet(b, jsonrpc.NewCodec(jsonrpc.Options{}), dialect.Op{Kind: dialect.Subscribe, Method: "eth_subscribe"})
	b.SetBytes(int64(len(item)))
	b.ReportAllocs()
	b.ResetTimer()
	go func() {
		for left := b.N; left > 0; {
			n := min(left, 250)
			f.more <- n
			left -= n
		}
	}()
	read(b, p, s, b.N)
}

var _ wire.Idler = (*faucet)(nil)
