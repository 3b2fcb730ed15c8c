package httpserver

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// requestsTo returns the request handler of a listener.
func requestsTo(l *listener) *handler { return l.server.Handler.(*handler) }

// listening returns a listener for a scheme. Settings that c lacks have their defaults.
func listening(t *testing.T, scheme string, c transport.Config) *listener {
	t.Helper()
	l, err := Listen(t.Context(), transport.Address{Scheme: scheme, Host: "127.0.0.1:0", URLPath: "/"}, c.WithDefaults())
	testkit.OK(t, err)
	t.Cleanup(func() { l.Close() })
	return l.(*listener)
}

// A slow or missing body does not keep a connection open, but a slow handler does.
func TestSlowBody(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
	const limit = 200 * time.Millisecond
	l := listening(t, "http", transport.Config{})
	defer l.Close()
	requestsTo(l).patience = limit
	const head = " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n["
	for path, status := range map[string]string{"/": "408", "/nope": "404"} {
		for _, drops := range []bool{false, true} {
			conn, err := net.Dial("tcp", strings.Trim(l.Endpoint(), "htps:/"))
			testkit.OK(t, err)
			io.WriteString(conn, "POST "+path+head)
			if drops {
				go func() {
					for {
						if _, err := conn.Write([]byte("1,")); err != nil {
							return
						}
						time.Sleep(limit / 10)
					}
				}()
			}
			conn.SetReadDeadline(time.Now().Add(30 * time.Second))
			got, err := io.ReadAll(conn)
			if errors.Is(err, os.ErrDeadlineExceeded) || !strings.Contains(string(got), " "+status+" ") {
				t.Errorf("%s, drops %v: %q %v", path, drops, got, err)
			}
			conn.Close()
		}
	}
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.Recv()
		time.Sleep(2 * limit)
		c.Send([]byte("7"))
		c.Close()
	}()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Post(l.Endpoint(), "application/json", strings.NewReader("[7]"))
	testkit.OK(t, err)
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err != nil || string(got) != "7" {
		t.Errorf("%q %v", got, err)
	}
}

// Every wait for a client has a time limit.
func TestListenerWaitsAreBounded(t *testing.T) {
	s := newServer(&handler{}, &clients{})
	if s.ReadHeaderTimeout != 10*time.Second || s.IdleTimeout != 2*time.Minute || s.MaxHeaderBytes != 64<<10 || bodyTimeout != 30*time.Second || bodyRate != 1<<10 {
		t.Errorf("%v, %v, %d bytes", s.ReadHeaderTimeout, s.IdleTimeout, s.MaxHeaderBytes)
	}
}

// The server notices that a client closes the connection, even if net/http does not, because of unread bytes.
func TestPostOfAClosedClientWithUnreadBytesEnds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux reports this")
	}
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
			var c transport.Config
			if scheme == "https" {
				known := httptest.NewTLSServer(nil)
				known.Close()
				c.TLS.Cert = written(t, known.TLS.Certificates[0])
			}
			l := listening(t, scheme, c)
			defer l.Close()
			clients := &l.clients
			clients.mu.Lock()
			clients.interval = 50 * time.Millisecond
			clients.mu.Unlock()
			raw, err := net.Dial("tcp", strings.Trim(l.Endpoint(), "htps:/"))
			testkit.OK(t, err)
			client := raw
			if scheme == "https" {
				client = tls.Client(raw, &tls.Config{InsecureSkipVerify: true})
			}
			const post = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: 2\r\n\r\n{}"
			io.WriteString(client, post)
			answer, err := l.Accept()
			testkit.OK(t, err)
			defer answer.Close()
			answer.Send([]byte(`{"a":1}`))
			answer.Send([]byte(`{"b":2}`))
			if _, err := http.ReadResponse(bufio.NewReader(client), nil); err != nil {
				t.Fatal(err)
			}
			io.WriteString(client, post)
			raw.(*net.TCPConn).SetLinger(0)
			raw.Close()
			<-answer.(*postConn).PeerClosed()
			if err := answer.Send([]byte(`{"c":3}`)); err == nil {
				t.Error("Send succeeded after the client closed the connection")
			}
		})
	}
}

// written writes a certificate and its key to a file, and returns its name.
func written(t *testing.T, c tls.Certificate) string {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	testkit.OK(t, err)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]})
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...)
	name := filepath.Join(t.TempDir(), "pair.pem")
	testkit.OK(t, os.WriteFile(name, text, 0o600))
	return name
}
