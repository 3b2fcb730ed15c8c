package wiretap

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"testing"

	"rpcx/wire"
	"rpcx/wire/framing"
	"rpcx/wire/tape"
	"rpcx/wire/tape/recorder"
	"rpcx/wire/testkit"
)

// A source is a stream of messages that is read in blocks of 64 KiB.
type source struct {
	block []byte
	left  int
}

// newSource returns a source of messages of three kinds with different values.
func newSource(n int) *source {
	s := &source{left: n}
	for i := 0; len(s.block) < chunk-200; i++ {
		switch i % 3 {
		case 0:
			s.block = fmt.Appendf(s.block, `{"jsonrpc":"2.0","id":%d,"result":{"id":"o_%d","lines":[{"sku":"a","n":%d}],"note":null}}`+"\n", i, i*7, i%4)
		case 1:
			s.block = fmt.Appendf(s.block, `{"jsonrpc":"2.0","method":"log","params":{"time":"2026-11-27T08:05:%02dZ","text":"Description: GET /orders/%d from 10.0.0.1 took %d ms"}}`+"\n", i%60, i, i%9)
		default:
			s.block = fmt.Appendf(s.block, `{"jsonrpc":"2.0","method":"ticks","params":{"subscription":"0x9ce5","result":{"number":%d,"hash":"%032x"}}}`+"\n", i, i*i)
		}
	}
	return s
}

func (s *source) Read(b []byte) (int, error) {
	if s.left <= 0 {
		return 0, io.EOF
	}
	s.left--
	return copy(b, s.block), nil
}

func (s *source) Write(b []byte) (int, error) { return len(b), nil }
func (s *source) Close() error                { return nil }

// passBlocks records n blocks from a source, and returns the number of bytes.
func passBlocks(t testing.TB, n int) int64 {
	r, err := recorder.Open(recorder.Options{File: filepath.Join(t.TempDir(), "x.tape")})
	testkit.OK(t, err)
	server := newSource(n)
	_ = Pass(Bytes(&source{}, wire.Options{}), Bytes(server, wire.Options{}), framing.Line, r.Conn(tape.Open{}, false), nil)
	testkit.OK(t, r.Close())
	return int64(n) * int64(len(server.block))
}

// Passing on and recording a message allocates nothing.
func TestPassAllocatesNothing(t *testing.T) {
	allocations := func(blocks int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		passBlocks(t, blocks)
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	allocations(1)
	few, many := allocations(10), allocations(210)
	if perBlock := (float64(many) - float64(few)) / 200; perBlock > 1 { // a block has about 500 messages
		t.Errorf("%.1f allocations a block", perBlock)
	}
}

// BenchmarkPass measures blocks of 64 KiB.
func BenchmarkPass(b *testing.B) {
	b.SetBytes(passBlocks(b, b.N) / int64(b.N))
}
