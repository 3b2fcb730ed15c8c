package schemes

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// patience is far longer than any step takes.
const patience = 30 * time.Second

// noLeaks fails the test if it leaves a goroutine behind. It must be called first.
func noLeaks(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	// After rejecting a body, an http.Server sleeps for half a second before it closes the connection.
	lingers := goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait")
	t.Cleanup(func() { goleak.VerifyNone(t, before, lingers) })
}

func mustParse(t *testing.T, s string) transport.Address {
	t.Helper()
	a, err := transport.Parse(s)
	if err != nil {
		t.Fatalf("Parse(%q): %v", s, err)
	}
	return a
}

// mustAccept accepts the next connection from l, and closes it when the test ends.
func mustAccept(t *testing.T, l transport.Listener) wire.Conn {
	t.Helper()
	c, err := l.Accept()
	if err != nil {
		t.Fatalf("Accept: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// connect connects to the port of a listener until the test ends.
func connect(t *testing.T, l transport.Listener) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", mustParse(t, l.Endpoint()).Host)
	testkit.OK(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// echo returns each message that arrives on a connection of l.
func echo(t *testing.T, l transport.Listener) {
	var wg sync.WaitGroup
	t.Cleanup(func() { l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				for {
					msg, err := c.Recv()
					if err != nil || c.Send(msg) != nil {
						return
					}
				}
			})
		}
	})
}

// wantFault checks the kind of a Fault, and that its message contains all words.
func wantFault(t *testing.T, err error, kind wire.FaultKind, words ...string) *wire.Fault {
	t.Helper()
	f := wire.AsFault(err)
	if f == nil {
		t.Fatalf("got %T %v, want a Fault of kind %s", err, err, kind)
	}
	testkit.Expect(t, fmt.Sprint(err), f.Kind, kind)
	text := f.Message + " " + f.Hint
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q does not contain %q", text, w)
		}
	}
	return f
}

// wantClose checks that an error is a CloseError with this code, and whether the close was clean.
func wantClose(t *testing.T, err error, code int, clean bool) *wire.CloseError {
	t.Helper()
	var ce *wire.CloseError
	if !errors.As(err, &ce) {
		t.Fatalf("got %T %v, want a CloseError", err, err)
	}
	if ce.Code != code || ce.Clean != clean {
		t.Errorf("code %d clean %v, want %d %v: %v", ce.Code, ce.Clean, code, clean, err)
	}
	return ce
}

// enough returns the time limit for a dial that fails with these words.
func enough(words ...string) time.Duration {
	if strings.Contains(strings.Join(words, " "), "no response within 300ms") {
		return 300 * time.Millisecond
	}
	return patience
}

// returns fails the test if f does not return.
func returns(t *testing.T, what string, f func()) {
	t.Helper()
	within(t, patience, what, f)
}

// soon is shorter than the 5 seconds that the libraries wait for a peer to read a close frame.
const soon = 4 * time.Second

// within fails the test if f takes longer than d.
func within(t *testing.T, d time.Duration, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	start := time.Now()
	go func() { defer close(done); f() }()
	select {
	case <-done:
		if took := time.Since(start); took > d {
			t.Errorf("%s took %v, more than %v", what, took, d)
		}
	case <-time.After(2 * patience):
		t.Fatalf("%s did not return", what)
	}
}

// rawServer serves raw HTTP: it reads the head of one request from each connection, and passes the connection to serve.
func rawServer(t *testing.T, serve func(c net.Conn, r *bufio.Reader, req *http.Request)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.OK(t, err)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	t.Cleanup(func() {
		ln.Close()
		mu.Lock()
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			wg.Go(func() {
				defer c.Close()
				r := bufio.NewReader(c)
				req, err := http.ReadRequest(r)
				if err == nil {
					serve(c, r, req)
				}
			})
		}
	})
	return ln.Addr().String()
}

// rawWS is a rawServer that accepts an upgrade before it calls serve.
func rawWS(t *testing.T, serve func(c net.Conn, r *bufio.Reader)) string {
	return "ws://" + rawServer(t, func(c net.Conn, r *bufio.Reader, req *http.Request) {
		io.WriteString(c, switching(req, ""))
		serve(c, r)
	}) + "/"
}

func switching(req *http.Request, extra string) string {
	sum := sha1.Sum([]byte(req.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
		base64.StdEncoding.EncodeToString(sum[:]) + "\r\n" + extra + "\r\n"
}

// The first byte of a frame has a flag and the opcode.
const (
	finText   = 0x81
	finBinary = 0x82
	finClose  = 0x88
	finPing   = 0x89
	finPong   = 0x8A
	firstText = 0x01
	more      = 0x00
	finMore   = 0x80
)

// frame returns a frame from a server.
func frame(first byte, payload string) string {
	b := []byte{first}
	switch n := len(payload); {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	return string(b) + payload
}

// masked returns a frame from a client.
func masked(first byte, payload string) string {
	f := []byte(frame(first, payload))
	head := len(f) - len(payload)
	f[1] |= 0x80
	key := []byte{1, 2, 3, 4}
	out := append(append([]byte{}, f[:head]...), key...)
	for i, c := range []byte(payload) {
		out = append(out, c^key[i%4])
	}
	return string(out)
}

// readFrame reads one frame from a client.
func readFrame(r io.Reader) (first byte, payload []byte, err error) {
	var h [8]byte
	if _, err := io.ReadFull(r, h[:2]); err != nil {
		return 0, nil, err
	}
	first, n := h[0], uint64(h[1]&0x7f)
	isMasked := h[1]&0x80 != 0
	switch n {
	case 126:
		_, err = io.ReadFull(r, h[:2])
		n = uint64(binary.BigEndian.Uint16(h[:2]))
	case 127:
		_, err = io.ReadFull(r, h[:8])
		n = binary.BigEndian.Uint64(h[:8])
	}
	if err != nil {
		return 0, nil, err
	}
	var key [4]byte
	if isMasked {
		if _, err := io.ReadFull(r, key[:]); err != nil {
			return 0, nil, err
		}
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(r, payload)
	for i := range payload {
		payload[i] ^= key[i%4]
	}
	return first, payload, err
}

// closing returns the payload of a close frame.
func closing(code uint16, reason string) string {
	return string(binary.BigEndian.AppendUint16(nil, code)) + reason
}

// socketPath returns a path that is short enough for a Unix socket.
func socketPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(testkit.ShortDir(t), "s.sock")
}
