package framing

import (
	"errors"
	"io"
	"strings"
	"testing"

	"rpcx/wire"
)

// If the input ends inside a message, a client reports a lost connection, in each framing. Whole messages and noise are handled first.
func TestCutMessage(t *testing.T) {
	cases := []struct {
		framing, in string
		limit       int
		msgs        int
		cut         bool
	}{
		{"line", `{"id":1,"resul`, 0, 0, true},
		{"line", "{\"id\":1}\n[1,", 0, 1, true},
		{"line", `{"id":1}`, 0, 1, false},
		{"line", "{\"id\":1,\"resul\n", 0, 1, false}, // the line is complete, but its JSON is not
		{"line", `{"id":1,"resul`, 100, 0, true},
		{"line", "starting", 100, 0, false},
		{"header", "Content-Length: 20\r\n\r\n{\"id\":1}", 0, 0, true},
		{"header", "Content-Length: 20\r\n", 0, 0, true},
		{"header", "C", 0, 0, true},
		{"header", "content-le", 0, 0, true},
		{"header", "Content-Type", 0, 0, true},
		{"header", "Content-Length: 8\r\n\r\n{\"id\":1}Content-Len", 0, 1, true},
		{"header", "Content-Le", 100, 0, false}, // a child can print anything
		{"header", "Content-Length: 8\r\n\r\n{\"id\":1}", 0, 1, false},
		{"nul", "{\"id\":1}\x00{\"id\":", 0, 1, true},
		{"nul", `{"id":1}`, 0, 1, false},
		{"seq", "\x1e{\"id\":1,", 0, 0, true},
		{"seq", "\x1e{\"id\":1}", 0, 1, false},
		{"netstring", "8:{\"id\":1},20:{\"id\"", 0, 1, true},
		{"netstring", "8:{\"id\":1}", 0, 0, true},
		{"netstring", "12", 0, 0, true},
		{"netstring", "8:{\"id\":1},", 0, 1, false},
		{"varint", "\x08{\"id\":1}\x08{\"id\"", 0, 1, true},
		{"varint", "\x88", 0, 0, true},
		{"varint", "\x08", 0, 0, true},
		{"varint", "\x08{\"id\":1}", 0, 1, false},
		{"concat", `{"id":1}{"id":`, 0, 1, true},
		{"concat", `{"id":1}`, 0, 1, false},
	}
	for _, c := range cases {
		framing, _ := ByName(c.framing)
		conn := framing(&stream{Reader: strings.NewReader(c.in)}, wire.Options{Whole: true, NoiseLimit: c.limit})
		msgs := 0
		_, err := conn.Recv()
		for ; err == nil; _, err = conn.Recv() {
			msgs++
		}
		var closed *wire.CloseError
		cut := errors.As(err, &closed) && errors.Is(err, wire.ErrCut) && wire.AsFault(err) == nil
		if msgs != c.msgs || cut != c.cut || !cut && err != io.EOF {
			t.Errorf("%s %q: %d messages, then %v", c.framing, c.in, msgs, err)
		}
	}
}

// counted counts the bytes that are read singly.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b[:1])
	c.n += n
	return n, err
}

// Garbage is rejected as soon as there is enough to quote, or at the end of its line, without waiting for more bytes.
func TestGarbageIsNotAwaited(t *testing.T) {
	for _, c := range []struct {
		in   string
		read int
	}{
		{noisy(garbageShown + 5), garbageShown + 1},
		{noisy(garbageShown) + "\n12", garbageShown + 1},
		{noisy(garbageShown-1) + "\n12", garbageShown},
		{noisy(5) + "\n12", 6},
	} {
		r := &counted{Reader: strings.NewReader(c.in)}
		framing, _ := ByName("netstring")
		_, err := framing(&stream{Reader: r}, wire.Options{Strict: true}).Recv()
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Protocol || r.n != c.read {
			t.Errorf("%d bytes: %v after %d, want %d", len(c.in), err, r.n, c.read)
		}
	}
}
