package recorder_test

import (
	"io"
	"path/filepath"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/peer"
	"rpcx/wire/tape"
	"rpcx/wire/tape/recorder"
	"rpcx/wire/testkit"
)

var (
	answer = []byte(`{"jsonrpc":"2.0","id":1,"result":"0x9ce5"}`)
	one    = []byte(`{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x9ce5","result":{"number":"0x1b4","hash":"0x8216c5785ac5","gas":[1,2,3]}}}`)
	other  = []byte(`{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x9ce5","result":{"number":"0x1b5","hash":"0xf831d7ef8f31","gas":[1,2,44]}}}`)
)

// A tap is a connection on which as many messages arrive at once as the reader can take.
type tap struct {
	more chan int
	left int
	idle func()
}

func (c *tap) OnIdle(f func()) { c.idle = f }

func (c *tap) Recv() ([]byte, error) {
	if msg := c.Buffered(nil, 1); len(msg) > 0 {
		return msg[0], nil
	}
	c.idle()
	n, ok := <-c.more
	if !ok {
		return nil, io.EOF
	}
	if n == 0 {
		return answer, nil
	}
	c.left = n
	return c.Recv()
}

func (c *tap) Buffered(msgs [][]byte, most int) [][]byte {
	for ; c.left > 0 && len(msgs) < most; c.left-- {
		msgs = append(msgs, [][]byte{one, other}[c.left%2])
	}
	return msgs
}

func (c *tap) Send([]byte) error { return nil }
func (c *tap) Close() error      { return nil }

// Recording a stream allocates nothing per message, from the connection to the tape and to the reader of the stream.
func TestARecordedStreamAllocatesNothing(t *testing.T) {
	testkit.RaceSkips(t)
	r, err := recorder.Open(recorder.Options{File: filepath.Join(t.TempDir(), "x.tape")})
	testkit.OK(t, err)
	defer r.Close()
	conn := &tap{more: make(chan int)}
	p := peer.New(conn, jsonrpc.NewCodec(jsonrpc.Options{}), peer.Options{Record: r.Conn(tape.Open{}, false).Messages})
	defer p.Close()
	defer close(conn.more)
	s, err := p.Open(t.Context(), dialect.Op{Kind: dialect.Subscribe, Method: "eth_subscribe"})
	testkit.OK(t, err)
	read := func(n int) {
		conn.more <- n
		for range max(n, 1) {
			if _, err := s.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	read(0)
	const n = 1000
	for range 20 {
		read(n)
	}
	if got := testing.AllocsPerRun(50, func() { read(n) }) / n; got > 0.01 {
		t.Errorf("%.3f allocations a message", got)
	}
}

var _ wire.Buffered = (*tap)(nil)
