package finding

import (
	"bytes"
	"cmp"
	"io"

	"rpcx/wire"
	"rpcx/wire/framing"
	"rpcx/wire/scan"
)

// maxReceived bounds the bytes of one connection that are searched for messages. maxKept bounds the stored bytes of an
// attempt.
const (
	maxReceived = 1 << 20
	maxKept     = 4 << 10
)

// pieces is a wire.Framing for a peer whose framing is unknown. Recv returns received bytes, and Send writes bytes unchanged.
func pieces(rwc io.ReadWriteCloser, _ wire.Options) wire.Conn {
	return &piecesConn{rwc, make([]byte, 64<<10)}
}

type piecesConn struct {
	io.ReadWriteCloser
	buf []byte
}

func (c *piecesConn) Recv() ([]byte, error) {
	n, err := c.Read(c.buf)
	if n > 0 {
		return c.buf[:n], nil
	}
	return nil, cmp.Or(err, io.ErrNoProgress)
}

func (c *piecesConn) Send(b []byte) error {
	_, err := c.Write(b)
	return err
}

// stream is an in-memory byte stream.
type stream struct {
	io.Reader
	io.Writer
}

func (stream) Close() error { return nil }

// framed returns msg in the framing called name, with head as a line in its header.
func framed(name string, msg, head []byte) []byte {
	f, _ := framing.ByName(name)
	var b bytes.Buffer
	conn := f(stream{bytes.NewReader(nil), &b}, wire.Options{Head: head}.WithDefaults())
	_ = conn.Send(msg)
	return b.Bytes()
}

// unframed returns the messages in a peer's bytes and the name of their framing. It returns no messages if no framing fits the bytes.
// noise bounds the number of lines that are not messages.
func unframed(received []byte, noise int) (name string, msgs [][]byte) {
	for _, name := range []string{"header", "seq", "netstring", "varint", "nul", "line", "concat"} {
		end, needed := map[string]string{"nul": "\x00", "line": "\n"}[name]
		if needed && !bytes.Contains(received, []byte(end)) {
			continue
		}
		if msgs := messages(name, received, noise); len(msgs) > 0 {
			return name, msgs
		}
	}
	return "", nil
}

// messages returns the messages of that framing in received. It returns none if one of them is not a JSON object or array.
func messages(name string, received []byte, noise int) (msgs [][]byte) {
	f, _ := framing.ByName(name)
	if name == "line" {
		received = received[bytes.LastIndexByte(received, 0xFF)+1:] // a sentinel of QEMU's guest agent
	}
	conn := f(stream{bytes.NewReader(received), io.Discard}, wire.Options{NoiseLimit: noise, Whole: true}.WithDefaults())
	for {
		msg, err := conn.Recv()
		if err != nil {
			return msgs
		}
		if scan.Valid(msg, wire.DefaultMaxDepth) != nil {
			return nil
		}
		msgs = append(msgs, bytes.Clone(msg))
	}
}
