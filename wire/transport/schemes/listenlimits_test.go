package schemes

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
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

// A client that sends nothing during the TLS handshake is disconnected, with a warning.
func TestSilentTLSClientsAreClosed(t *testing.T) {
	server, _, _ := certified(t)
	warned := make(chan string, 1)
	l := listening(t, "tls://127.0.0.1:0", transport.Config{TLS: server, ConnectTimeout: 300 * time.Millisecond, Warn: func(line string) { warned <- line }})
	conn := connect(t, l)
	conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("the connection of a silent client is still open")
	}
	returns(t, "the warning", func() { <-warned })
}

// Clients that send nothing during the TLS handshake do not delay others, but count as clients.
func TestSilentTLSClientsDelayNone(t *testing.T) {
	server, client, _ := certified(t)
	l := listening(t, "tls://127.0.0.1:0", transport.Config{TLS: server, Listening: transport.Listening{MaxClients: 101}, Warn: func(string) {}})
	echo(t, l)
	var silent [100]net.Conn
	for i := range silent {
		silent[i] = connect(t, l)
	}
	wantEcho(t, dialed(t, l.Endpoint(), transport.Config{TLS: client}), "[1]")
	conn := connect(t, l)
	conn.SetReadDeadline(time.Now().Add(patience))
	if n, err := conn.Read(make([]byte, 1)); n != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a client above the limit was accepted", n, err)
	}
	silent[0].Close()
	for { // until the listener has noticed
		c, err := dial(t.Context(), l.Endpoint(), transport.Config{TLS: client})
		if err == nil {
			wantEcho(t, c, "[2]")
			c.Close()
			return
		}
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
