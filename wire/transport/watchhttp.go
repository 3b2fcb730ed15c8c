package transport

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"rpcx/wire"
)

// watched is t, of whose exchanges c's Watch is told.
func (c Config) watched(t http.RoundTripper) http.RoundTripper {
	if c.Watch == nil {
		return t
	}
	return watcher{t, c.Watch, !c.TLS.Insecure}
}

// A watcher tells of requests, of their answers, and of what is in them.
type watcher struct {
	http.RoundTripper
	watch   *Watch
	checked bool // certificates are verified
}

// CloseIdleConnections is what http.Client looks for.
func (t watcher) CloseIdleConnections() {
	if c, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// RoundTrip implements http.RoundTripper.
func (t watcher) RoundTrip(req *http.Request) (*http.Response, error) {
	var head []string
	var shaking time.Time
	var sent atomic.Int64
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		TLSHandshakeStart: func() { shaking = time.Now() },
		TLSHandshakeDone: func(s tls.ConnectionState, err error) {
			if err == nil {
				t.watch.secured("", s, t.checked, time.Since(shaking))
			}
		},
		WroteHeaderField: func(name string, values []string) { head = append(head, headLine(name, values)) },
		WroteHeaders: func() {
			t.watch.requested("", req.Method, req.URL.RequestURI(), "HTTP/1.1", head)
			head = nil
			sent.Store(time.Now().UnixNano())
		},
	})
	show := t.watch.pieces("")
	req = req.WithContext(t.watch.dialling(ctx))
	if show != nil && req.Body != nil && req.Body != http.NoBody {
		req.Body = shownBody{req.Body, func(b []byte) { show(wire.Send, b) }}
	}
	resp, err := t.RoundTripper.RoundTrip(req)
	if err != nil {
		return resp, err
	}
	t.watch.answered("", resp.StatusCode, resp.Proto, resp.Header, time.Since(time.Unix(0, sent.Load())))
	switch rwc, ok := resp.Body.(io.ReadWriteCloser); {
	case show == nil:
	case ok && resp.StatusCode == http.StatusSwitchingProtocols:
		resp.Body = &shownFrames{ReadWriteCloser: rwc, dirs: t.watch.frames("")}
	default:
		resp.Body = shownBody{resp.Body, func(b []byte) { show(wire.Recv, b) }}
	}
	return resp, err
}

// A shownBody shows what is read of a body.
type shownBody struct {
	io.ReadCloser
	show func([]byte)
}

func (s shownBody) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if n > 0 {
		s.show(p[:n])
	}
	return n, err
}

// A shownAnswer is a ResponseWriter that shows what is written of a body.
type shownAnswer struct {
	http.ResponseWriter
	show func([]byte)
}

func (s shownAnswer) Write(p []byte) (int, error) {
	s.show(p)
	return s.ResponseWriter.Write(p)
}

// Unwrap is what http.ResponseController looks for.
func (s shownAnswer) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// A shownFrames shows the frames of a WebSocket that pass through it.
type shownFrames struct {
	io.ReadWriteCloser
	dirs [2]*frames
}

func (s *shownFrames) Read(p []byte) (int, error) {
	n, err := s.ReadWriteCloser.Read(p)
	s.dirs[wire.Recv].take(p[:n])
	if err != nil {
		s.dirs[wire.Recv].cutOff()
	}
	return n, err
}

func (s *shownFrames) Write(p []byte) (int, error) {
	s.dirs[wire.Send].take(p)
	return s.ReadWriteCloser.Write(p)
}

// A shownUpgrade is a ResponseWriter whose connection, once it is a WebSocket, shows its frames.
type shownUpgrade struct {
	http.ResponseWriter
	dirs [2]*frames
}

// Hijack implements http.Hijacker.
func (s shownUpgrade) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(s.ResponseWriter).Hijack()
	if err != nil {
		return conn, rw, err
	}
	came, _ := rw.Reader.Peek(rw.Reader.Buffered()) // what the client has said since its request
	s.dirs[wire.Recv].take(came)
	shown := &shownConn{conn, shownFrames{conn, s.dirs}}
	rw.Writer.Reset(shown)
	return shown, rw, nil
}

// A shownConn is the connection under a WebSocket of a listener.
type shownConn struct {
	net.Conn
	frames shownFrames // of Conn
}

func (s *shownConn) Read(p []byte) (int, error)  { return s.frames.Read(p) }
func (s *shownConn) Write(p []byte) (int, error) { return s.frames.Write(p) }
