// Package httpclient posts messages over HTTP. Its Dialer also connects WebSockets.
package httpclient

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/transport"
)

// An httpConn sends each message in a POST. The response can contain any number of messages. It is a wire.Exchanger.
// Callers that do not use Exchange can use Send.
type httpConn struct {
	*Dialer
	http    *http.Client
	max     int
	session atomic.Pointer[string]
	flow    httpSession
	older   atomic.Pointer[eventsConn] // set for servers that use the older HTTP with SSE

	ctx     context.Context // ended by Close
	cancel  context.CancelFunc
	closing sync.Once
	mu      sync.Mutex     // guards going.Add against going.Wait
	going   sync.WaitGroup // the exchanges that are running
	queue   chan []byte    // the responses to Send
}

// Dial returns a client for http, https and http+unix. It connects only for the first exchange.
func Dial(_ context.Context, a transport.Address, c transport.Config) (wire.Conn, error) {
	d, err := NewDialer(a, c)
	if err != nil {
		return nil, err
	}
	if a.Scheme == "https" {
		c.WarnInsecure(d.Where)
	}
	h := &httpConn{Dialer: d, max: c.MaxMessage, queue: make(chan []byte)}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.http = d.Client(func(conn net.Conn) net.Conn { return &eofNoter{Conn: conn} })
	jar, _ := cookiejar.New(nil) // cannot fail without options
	h.http.Jar = cookies{jar}
	return h, nil
}

// Recv returns the responses to Send, and an error after Close. Exchange passes responses to its caller instead.
func (h *httpConn) Recv() ([]byte, error) {
	select {
	case msg := <-h.queue:
		return msg, nil
	case <-h.ctx.Done():
		return nil, closedHere
	}
}

// Send posts msg. Recv returns the responses. Send returns when the last response has arrived.
func (h *httpConn) Send(msg []byte) error {
	return h.Exchange(context.Background(), msg, func(m []byte) { h.enqueue(h.ctx, m) })
}

// enqueue passes a copy of msg to Recv, unless ctx ends first.
func (h *httpConn) enqueue(ctx context.Context, msg []byte) {
	select {
	case h.queue <- bytes.Clone(msg):
	case <-ctx.Done():
	}
}

// closedHere is the end of a connection that Close has ended.
var closedHere = &wire.CloseError{Clean: true, Err: net.ErrClosed}

// closedFault returns the failure of an exchange on a connection that has ended.
func closedFault(where string, ce *wire.CloseError) *wire.Fault {
	f := wire.NewFault(wire.Closed, where+": "+ce.Error(), nil)
	f.Close = ce
	return f
}

// Close ends the exchanges that are running.
func (h *httpConn) Close() error {
	h.closing.Do(func() {
		h.endSession()
		h.mu.Lock()
		h.cancel()
		h.mu.Unlock()
		patience, cancel := transport.Within(h.c.Hurry, h.c.CloseTimeout, 0)
		defer cancel()
		wire.Either(wire.Go(h.going.Wait), patience.Done())
		h.CloseIdle()
	})
	return nil
}

// begin counts one more exchange. It returns false if the connection has been closed.
func (h *httpConn) begin() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return false
	}
	h.going.Add(1)
	return true
}

// Exchange posts msg and calls recv with each message of the response. If ctx ends first, it returns the error of ctx.
func (h *httpConn) Exchange(ctx context.Context, msg []byte, recv func(msg []byte)) error {
	if !h.begin() {
		return closedFault(h.Where, closedHere)
	}
	defer h.going.Done()
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()

	var err error
	if e := h.older.Load(); e != nil {
		err = e.exchange(both, msg, recv)
	} else {
		err = h.post(both, msg, recv, true)
	}
	switch {
	case err == nil:
		return nil
	case h.ctx.Err() != nil:
		return closedFault(h.Where, closedHere)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return err
}

// post posts msg. If named is set, it does so again when the server has only assigned a session.
func (h *httpConn) post(ctx context.Context, msg []byte, recv func([]byte), named bool) error {
	req, session, err := h.request(ctx, http.MethodPost, h.URL, msg)
	if err != nil {
		return err
	}
	setDefault(req.Header, "Accept", "application/json, text/event-stream")
	mirrored := h.mirrored(req.Header, msg)
	var reached atomic.Bool // there was a connection, so the message may have arrived
	var way atomic.Pointer[eofNoter]
	req = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) {
			reached.Store(true)
			if below, ok := transport.Layer[*eofNoter](i.Conn); ok {
				way.Store(below)
			}
		},
		WroteHeaders: func() { wire.Sent(ctx) },
	}))
	late := time.AfterFunc(UnansweredAfter, func() {
		if h.c.Unanswered != nil {
			h.c.Unanswered()
		}
	})
	resp, err := h.http.Do(req)
	late.Stop()
	if err != nil {
		return h.notAnswered(ctx, reached.Load(), way.Load().atEnd(), err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound && h.lose(session) {
		return wire.NewFault(wire.Unreachable, h.Where+" has ended the session", wire.ErrSessionLost)
	}
	if h.takeName(resp) && named {
		h.readRefusal(resp.Body, "") // so that the connection can be used again
		return h.post(ctx, msg, recv, false)
	}
	err = h.resumed(ctx, msg, resp, recv)
	if session == nil && !mirrored && h.usesOlderSSE(ctx, err) {
		return h.older.Load().exchange(ctx, msg, recv)
	}
	return err
}

// request returns a request with the headers that all requests have, including those of the session. session is the
// name of the session, or nil.
func (h *httpConn) request(ctx context.Context, method, to string, msg []byte) (req *http.Request, session *string, err error) {
	// The transport may still read the body after the response, so it gets a copy.
	req, err = http.NewRequestWithContext(ctx, method, to, bytes.NewReader(bytes.Clone(msg)))
	if err != nil {
		return nil, nil, wire.NewFault(wire.Usage, h.Where+": not a valid address", err)
	}
	req.Header, req.Host = h.Header.Clone(), h.HostHeader
	if msg != nil {
		setDefault(req.Header, "Content-Type", "application/json")
	}
	return req, h.setSession(req.Header), nil
}

// UnansweredAfter is how long a POST waits for the head of a response before Config.Unanswered is called.
const UnansweredAfter = 5 * time.Second

func setDefault(h http.Header, name, value string) {
	if _, ok := h[http.CanonicalHeaderKey(name)]; !ok {
		h.Set(name, value)
	}
}

// notAnswered returns the failure of a POST that has no response. It distinguishes a peer that could not be reached
// from a peer that may have received the message before it disconnected, and from a response that is not HTTP. If ended
// is set, the connection has ended, and such a response was cut off. (If the server refuses the client certificate,
// there seems to be a connection at first.)
func (h *httpConn) notAnswered(ctx context.Context, reached, ended bool, err error) error {
	if ended && transport.NotHTTP(err) != "" {
		err = io.ErrUnexpectedEOF
	}
	f := h.Fault(ctx, err)
	if !reached || f.Kind != wire.Unreachable || wire.AsFault(err) != nil {
		return f
	}
	err = transport.Innermost(err)
	switch {
	case errors.Is(err, io.EOF):
		err = errors.New("the peer closed the connection without a response")
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errCutOff
	}
	return closedFault(h.Where, &wire.CloseError{Err: err})
}

// takeName stores the name of the session if the response contains one. It returns true if the server has not processed
// the message, which must then be sent again with that name.
func (h *httpConn) takeName(resp *http.Response) bool {
	id := resp.Header.Get(h.c.Name.Header)
	if id == "" {
		return false
	}
	if len(id) >= longSecret {
		redact.Sent(id)
	}
	h.session.Store(&id)
	return resp.StatusCode == h.c.Name.Again
}
