package peer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/framing"
	"rpcx/wire/peer"

	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/testkit"
)

// BenchmarkCalls measures calls between two peers over a Unix socket, several of them pending at a time.
func BenchmarkCalls(b *testing.B) {
	for _, flight := range []int{1, 64, 512} {
		b.Run(fmt.Sprint(flight), func(b *testing.B) {
			p := dialEcho(b)
			params := json.RawMessage(`{"id":"o_001","fields":["a","b"]}`)
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			for i := range flight {
				n := b.N / flight
				if i < b.N%flight {
					n++
				}
				wg.Go(func() {
					for range n {
						if _, err := p.Call(b.Context(), "echo", params); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

func dialEcho(b *testing.B) *peer.Peer {
	l, err := net.Listen("unix", b.TempDir()+"/s")
	testkit.OK(b, err)
	defer l.Close()
	c, err := net.Dial("unix", l.Addr().String())
	testkit.OK(b, err)
	s, err := l.Accept()
	testkit.OK(b, err)
	far := peer.New(framing.Line(s, wire.Options{}), jsonrpc.NewCodec(jsonrpc.Options{}), peer.Options{
		Handler: with(func(_ context.Context, in *dialect.Inbound) (json.RawMessage, error) { return in.Msg.Params, nil }),
	})
	p := peer.New(framing.Line(c, wire.Options{}), jsonrpc.NewCodec(jsonrpc.Options{}), peer.Options{})
	b.Cleanup(func() { p.Close(); far.Close() })
	return p
}
