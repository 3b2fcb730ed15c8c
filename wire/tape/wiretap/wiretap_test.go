package wiretap

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/framing"
	"rpcx/wire/tape"
	"rpcx/wire/tape/recorder"
	"rpcx/wire/transport"
)

func record(t *testing.T) (*recorder.Recorder, func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.tape")
	r, err := recorder.Open(recorder.Options{File: file, Header: tape.Header{Dialect: "jsonrpc"}})
	if err != nil {
		t.Fatal(err)
	}
	return r, func() string {
		t.Helper()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(b), "\n")
		return regexp.MustCompile(`"t":[0-9.]+,?`).ReplaceAllString(strings.Join(lines[1:], ""), "")
	}
}

// sockets are two ends of a TCP connection.
func sockets(t *testing.T) (a, b *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dialled.Close(); accepted.Close() })
	return dialled.(*net.TCPConn), accepted.(*net.TCPConn)
}

// Bytes arrive as they were sent: blanks, noise, half lines and all.
func TestBytes(t *testing.T) {
	client, near := sockets(t)
	far, server := sockets(t)
	r, read := record(t)
	done := make(chan error, 1)
	go func() {
		done <- Pass(Bytes(near, wire.Options{}), Bytes(far, wire.Options{}), framing.Line, r.Conn(tape.Open{}, false))
	}()
	up := "  {\"id\": 1,\"password\":\"x\"}\r\n\n[1]\nhello\n{\"half\":"
	io.WriteString(client, up)
	client.CloseWrite()
	got, err := io.ReadAll(server)
	if string(got) != up || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	down := "{\"r\":1}\n\n bye"
	io.WriteString(server, down)
	server.Close()
	got, err = io.ReadAll(client)
	if string(got) != down || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	want := `{"open":{}}
{"dir":"send","msg":{"id": 1,"password":"…"}}
{"dir":"send","msg":[1]}
{"dir":"send","text":"hello"}
{"dir":"send","text":"{\"half\":"}
{"dir":"recv","msg":{"r":1}}
{"dir":"recv","text":" bye"}
{"dir":"send","close":{"clean":true}}
`
	if tape := read(); tape != want {
		t.Errorf("got\n%s", tape)
	}
}

// A framing that breaks does not end the conversation.
func TestBrokenFraming(t *testing.T) {
	client, near := sockets(t)
	far, server := sockets(t)
	r, read := record(t)
	done := make(chan error, 1)
	go func() {
		done <- Pass(Bytes(near, wire.Options{}), Bytes(far, wire.Options{}), framing.Header, r.Conn(tape.Open{}, false))
	}()
	up := "Content-Length: 2\r\n\r\n{}Content-Length: x\r\n\r\n" + strings.Repeat("y", 100_000)
	go func() { io.WriteString(client, up); client.CloseWrite() }()
	got, err := io.ReadAll(server)
	if string(got) != up || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	server.Close()
	<-done
	if tape := read(); !strings.Contains(tape, `"msg":{}`) || !strings.Contains(tape, `{"note":"what follows is recorded as it comes: `) || strings.Count(tape, "y") < 10_000 {
		t.Errorf("got\n%.600s", tape)
	}
}

// Messages pass between connections of different kinds, and so does an end.
func TestMessages(t *testing.T) {
	client, near := transport.Pair()
	far, server := sockets(t)
	r, read := record(t)
	done := make(chan error, 1)
	go func() {
		done <- Pass(near, framing.Line(far, wire.Options{}), framing.Line, r.Conn(tape.Open{}, false))
	}()
	if err := client.Send([]byte(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 8)
	if _, err := io.ReadFull(server, b); err != nil || !bytes.Equal(b, []byte("{\"a\":1}\n")) {
		t.Errorf("%q, %v", b, err)
	}
	io.WriteString(server, "[2]\n")
	if msg, err := client.Recv(); string(msg) != "[2]" || err != nil {
		t.Errorf("%q, %v", msg, err)
	}
	client.Close()
	if _, err := server.Read(b); err != io.EOF {
		t.Error(err)
	}
	var closed *wire.CloseError
	if err := <-done; err != nil && !errors.As(err, &closed) {
		t.Error(err)
	}
	if tape := read(); !strings.HasSuffix(tape, `{"dir":"send","close":{"clean":true}}`+"\n") {
		t.Errorf("got\n%s", tape)
	}
}

// The close codes that may be sent.
func TestSendable(t *testing.T) {
	for code, want := range map[int]bool{
		-1: false, 0: false, 999: false, 1000: true, 1003: true, 1004: false, 1005: false, 1006: false, 1007: true, 1014: true, 1015: false, 1016: true, 4999: true, 5000: false,
	} {
		if sendable(code) != want {
			t.Errorf("%d: %v", code, !want)
		}
	}
}
