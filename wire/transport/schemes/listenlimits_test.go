package schemes

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rpcx/wire/transport"
)

// The head of a request can have at most 64 KiB. net/http allows slightly more.
func TestLargeHeadIsRefused(t *testing.T) {
	noLeaks(t)
	l := listening(t, "http://127.0.0.1:0/", transport.Config{})
	defer l.Close()
	conn := connect(t, l)
	go io.WriteString(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nX: "+strings.Repeat("x", 80<<10)+"\r\n\r\n")
	conn.SetReadDeadline(time.Now().Add(patience))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Fatal(resp, err)
	}
}

// A client that sends nothing during the TLS handshake is disconnected, with a warning. Many such clients delay another client no
// longer than one does.
func TestSilentTLSClientsAreClosed(t *testing.T) {
	server, client, _ := certified(t)
	var told atomic.Int64
	l := listening(t, "tls://127.0.0.1:0", transport.Config{TLS: server, ConnectTimeout: 300 * time.Millisecond, Warn: func(string) { told.Add(1) }})
	echo(t, l)
	var silent [64]net.Conn
	for i := range silent {
		conn := connect(t, l)
		silent[i] = conn
	}
	c := dialed(t, l.Endpoint(), transport.Config{TLS: client})
	wantEcho(t, c, "[1]")
	for _, conn := range silent {
		conn.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("the connection of a silent client is still open")
		}
	}
	if told.Load() == 0 {
		t.Error("no warning about silent clients")
	}
}

func TestCloseCancelsTLSHandshakes(t *testing.T) {
	noLeaks(t)
	server, client, _ := certified(t)
	l := listening(t, "tls://127.0.0.1:0", transport.Config{TLS: server})
	echo(t, l)
	connect(t, l)                                                              // sends nothing
	wantEcho(t, dialed(t, l.Endpoint(), transport.Config{TLS: client}), "[1]") // the listener has accepted both
	within(t, soon, "Close", func() { l.Close() })
}
