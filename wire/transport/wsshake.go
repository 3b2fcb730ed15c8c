package transport

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"
)

// A shaker asks for an upgrade to WebSocket as http.Transport does, byte for byte, but on the
// goroutine of its caller: the three that http.Transport has for a connection cost as much as
// the handshake itself. It understands what nearly every server says: 101, all of it well formed.
// Whatever else comes, http.Transport is given the connection as one on which nothing has
// happened, and finds out what there is to say.
type shaker struct {
	*http.Transport
	dialling func(ctx context.Context, network, addr string) (net.Conn, error) // of the Transport
	tried    bool                                                              // the first request was made
	given    net.Conn                                                          // what the Transport gets when it dials; nil: a new one
}

// shaking makes t one, if nothing looks at what t does and the request needs no check.
func (d *httpDialer) shaking(t http.RoundTripper) http.RoundTripper {
	plain, ok := t.(*http.Transport)
	if !ok || !strings.HasPrefix(d.url, "http://") || !d.ordinary() {
		return t
	}
	s := &shaker{Transport: plain, dialling: plain.DialContext}
	plain.DialContext = s.dial
	return s
}

// ordinary reports whether address and headers are printable ASCII, of which nothing is
// refused or spelled in another way.
func (d *httpDialer) ordinary() bool {
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	token := func(r rune) bool {
		return r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}
	for name, values := range d.header {
		if name == "" || strings.TrimFunc(name, token) != "" || strings.ContainsFunc(strings.Join(values, ""), odd) {
			return false
		}
	}
	return !strings.ContainsFunc(d.url+d.hostHeader, odd)
}

// RoundTrip implements http.RoundTripper.
func (s *shaker) RoundTrip(req *http.Request) (*http.Response, error) {
	if s.tried { // a redirect is followed
		return s.Transport.RoundTrip(req)
	}
	s.tried = true
	ctx := req.Context()
	conn, err := s.dialling(ctx, "tcp", hostPortOf(req.URL))
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	h := &handshake{Conn: conn, asked: make(chan struct{})}
	resp := h.ask(req)
	if !stop() {
		_ = conn.Close()
		return nil, context.Cause(ctx)
	}
	if resp == nil {
		s.given = h
		return s.Transport.RoundTrip(req)
	}
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: conn})
	}
	return resp, nil
}

// dial is how the Transport gets its connections.
func (s *shaker) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if c := s.given; c != nil {
		s.given = nil
		return c, nil
	}
	return s.dialling(ctx, network, addr)
}

// A handshake is a connection on which a request was sent and some of the answer was read.
// Who is given it may write the request once more, which goes nowhere, and read all of the answer.
type handshake struct {
	net.Conn
	in       []byte // what was read, and is still to be
	unread   error  // why there is no more of it
	unsent   error  // why the request could not be written
	again    []byte // the request, as far as it was written once more
	asked    chan struct{}
	finished sync.Once // asked is closed
}

// ask sends the request and returns the answer, if it is the usual one.
func (h *handshake) ask(req *http.Request) *http.Response {
	var head bytes.Buffer
	if h.unsent = req.Write(&head); h.unsent != nil {
		return nil
	}
	head.Truncate(head.Len() - len("\r\n"))
	if req.Header.Get("Accept-Encoding") == "" && req.Header.Get("Range") == "" {
		head.WriteString("Accept-Encoding: gzip\r\n") // as http.Transport offers by itself
	}
	head.WriteString("\r\n")
	if _, h.unsent = h.Conn.Write(head.Bytes()); h.unsent != nil {
		return nil
	}
	const usual = "HTTP/1.1 101 "
	buf := make([]byte, 4<<10)
	for h.unread == nil && len(h.in) < len(buf) {
		var n int
		n, h.unread = h.Conn.Read(buf[len(h.in):])
		h.in = buf[:len(h.in)+n]
		if known := min(len(h.in), len(usual)); string(h.in[:known]) != usual[:known] {
			return nil
		}
		if end := bytes.Index(h.in, []byte("\r\n\r\n")); end >= 0 {
			return h.upgraded(req, end+len("\r\n\r\n"))
		}
	}
	return nil
}

// upgraded returns the answer, whose head has n bytes; nil if it is not quite the usual one.
func (h *handshake) upgraded(req *http.Request, n int) *http.Response {
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(h.in[:n])), req)
	if err != nil || !strings.EqualFold(resp.Header.Get("Connection"), "upgrade") {
		return nil
	}
	resp.Body = h.Conn.(io.ReadWriteCloser)
	if h.in = h.in[n:]; len(h.in) > 0 || h.unread != nil {
		h.finish()
		resp.Body = h
	}
	return resp
}

// Read implements io.Reader. It waits for the request.
func (h *handshake) Read(p []byte) (int, error) {
	<-h.asked
	if len(h.in) > 0 {
		n := copy(p, h.in)
		h.in = h.in[n:]
		return n, nil
	}
	if h.unread != nil {
		return 0, h.unread
	}
	return h.Conn.Read(p)
}

// Write implements io.Writer.
func (h *handshake) Write(p []byte) (int, error) {
	select {
	case <-h.asked:
		return h.Conn.Write(p)
	default:
	}
	if h.unsent != nil {
		return 0, h.unsent
	}
	h.again = append(h.again, p...)
	if bytes.HasSuffix(h.again, []byte("\r\n\r\n")) { // a GET has no body
		h.finish()
	}
	return len(p), nil
}

// Close implements io.Closer.
func (h *handshake) Close() error {
	h.finish()
	return h.Conn.Close()
}

func (h *handshake) finish() { h.finished.Do(func() { close(h.asked) }) }

// NetConn is what underlying looks for.
func (h *handshake) NetConn() net.Conn { return h.Conn }
