package stream

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"rpcx/wire/testkit"
)

// Close does not wait until a TLS close alert can be sent. Package tls would wait up to 5 s.
func TestStreamCloseAmidSilence(t *testing.T) {
	known := httptest.NewTLSServer(nil)
	known.Close()
	near, far := net.Pipe() // unbuffered
	defer far.Close()
	shaken := make(chan error, 1)
	go func() { shaken <- tls.Server(far, known.TLS).Handshake() }() // reads nothing after the handshake
	conn := tls.Client(near, &tls.Config{InsecureSkipVerify: true})
	go io.ReadFull(conn, make([]byte, 1)) // reads the session tickets, which complete the handshake
	testkit.OK(t, errors.Join(conn.Handshake(), <-shaken))
	began := time.Now()
	New(conn).Close()
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("Close took %v", took)
	}
}
