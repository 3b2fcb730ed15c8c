package httpclient

import (
	"context"
	"io"
	"mime"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/transport/httpbody"
)

// An httpSession is the state that exchanges share in dialects with HTTP sessions (wire.HTTPSession).
type httpSession struct {
	mirror  atomic.Pointer[func(msg []byte) map[string]string] // returns additional headers for the exchange of a message; may be nil
	resumes atomic.Bool                                        // an event stream that ends before the response is resumed
	ends    atomic.Bool                                        // Close sends a DELETE
	stop    atomic.Pointer[context.CancelFunc]                 // ends the standing event stream; may be nil

	mu      sync.Mutex
	headers http.Header
}

const (
	maxResumes    = 5                      // how often rpcx tries to resume a response that yields no new message
	maxReopens    = 5                      // how often rpcx tries to reopen the standing event stream if it yields no new message
	reopenPause   = time.Second            // the default pause before a stream is reopened
	minRetry      = 50 * time.Millisecond  // the shortest pause that a server can set
	openTimeout   = 250 * time.Millisecond // how long ReadEvents waits for the standing event stream
	deleteTimeout = 2 * time.Second
)

// SetHeader adds a header to all later exchanges.
func (h *httpConn) SetHeader(name, value string) {
	h.flow.mu.Lock()
	defer h.flow.mu.Unlock()
	if h.flow.headers == nil {
		h.flow.headers = http.Header{}
	}
	h.flow.headers.Set(name, value)
}

// Mirror makes each exchange send the headers that headers returns for its message.
func (h *httpConn) Mirror(headers func(msg []byte) map[string]string) {
	h.flow.mirror.Store(&headers)
}

// mirrored adds the headers for a message to its request, and reports whether there are any.
func (h *httpConn) mirrored(head http.Header, msg []byte) bool {
	mirror := h.flow.mirror.Load()
	if mirror == nil {
		return false
	}
	headers := (*mirror)(msg)
	for name, value := range headers {
		setDefault(head, name, value)
	}
	return len(headers) > 0
}

// EndByDelete makes Close end the session by sending a DELETE.
func (h *httpConn) EndByDelete() {
	h.flow.ends.Store(true)
}

// setSession adds the session's headers to a request. It returns the name of the session, or nil.
func (h *httpConn) setSession(head http.Header) *string {
	id := h.session.Load()
	if id != nil {
		setDefault(head, h.c.Name.Header, *id)
	}
	h.flow.mu.Lock()
	defer h.flow.mu.Unlock()
	for name := range h.flow.headers {
		setDefault(head, name, h.flow.headers.Get(name))
	}
	return id
}

// lose forgets the session with that name, because the server has ended it. It returns false in dialects without
// sessions, and if the session has already been forgotten.
func (h *httpConn) lose(id *string) bool {
	if id == nil || !h.flow.resumes.Load() {
		return false
	}
	h.flow.mu.Lock()
	defer h.flow.mu.Unlock()
	if h.session.CompareAndSwap(id, nil) {
		h.flow.headers = nil
	}
	return true
}

// ReadEvents starts to read the standing event stream, on which the server sends messages that no exchange has
// requested. Recv returns them. Servers need not offer the stream. ReadEvents waits briefly until the stream is open,
// because the server might lose a request that it sends before the stream is open. From then on, responses that are cut
// off are resumed as well.
func (h *httpConn) ReadEvents(over func()) {
	if h.older.Load() != nil { // the stream is already being read
		return
	}
	if !h.begin() {
		over()
		return
	}
	ctx, cancel := context.WithCancel(h.ctx)
	if stop := h.flow.stop.Swap(&cancel); stop != nil {
		(*stop)() // ends the stream of an earlier session
	}
	h.flow.resumes.Store(true)
	there := make(chan struct{})
	go func() {
		defer h.going.Done()
		defer cancel()
		defer over()
		h.readEvents(ctx, sync.OnceFunc(func() { close(there) }))
	}()
	wire.Either(there, time.After(openTimeout))
}

// readEvents reads the standing event stream, and opens it again when it ends. It stops if the server does not offer
// the stream, or if the stream has ended several times without a message. It calls answered when the server has
// responded, or cannot be reached.
func (h *httpConn) readEvents(ctx context.Context, answered func()) {
	at := httpbody.Position{Retry: reopenPause}
	for idle := 0; idle < maxReopens; idle++ {
		resp := h.events(ctx, at.ID)
		if answered(); resp == nil {
			return
		}
		_ = httpbody.Events(resp.Body, h.max, &at, func(msg []byte) {
			idle = 0
			h.enqueue(ctx, msg)
		})
		resp.Body.Close()
		if !wire.Sleep(ctx, max(at.Retry, minRetry)) {
			return
		}
	}
}

func isEvents(resp *http.Response) bool {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return resp.StatusCode == http.StatusOK && media == "text/event-stream"
}

// events requests an event stream. If last is not "", the stream starts after the event with that id. events returns nil
// if there is no such stream.
func (h *httpConn) events(ctx context.Context, last string) *http.Response {
	req, _, err := h.request(ctx, http.MethodGet, h.URL, nil)
	if err != nil {
		return nil
	}
	req.Header.Set("Accept", "text/event-stream")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := h.http.Do(req)
	if err != nil {
		return nil
	}
	if !isEvents(resp) {
		resp.Body.Close()
		return nil
	}
	return resp
}

// resumed passes the messages in a response to recv. If the response is an event stream with ids, and the stream ends
// before the response to msg, resumed requests the rest.
func (h *httpConn) resumed(ctx context.Context, msg []byte, resp *http.Response, recv func([]byte)) error {
	id := scan.Get(msg, "id")
	if !h.flow.resumes.Load() || !isEvents(resp) || id == nil || scan.Get(msg, "method") == nil {
		return h.answer(resp, recv)
	}
	answered, at := false, httpbody.Position{}
	read := func(body io.Reader) error {
		return httpbody.Events(body, h.max, &at, func(m []byte) {
			answered = answered || scan.Get(m, "method") == nil && scan.Equal(scan.Get(m, "id"), id)
			recv(m)
		})
	}
	err := read(resp.Body)
	for tries, last := 0, ""; tries < maxResumes && !answered && at.ID != ""; tries++ {
		wait := at.Retry
		if last != "" {
			wait = max(wait, minRetry)
		}
		if at.ID != last { // some servers regularly end streams early
			tries, last = 0, at.ID
		}
		if !wire.Sleep(ctx, wait) {
			break
		}
		again := h.events(ctx, at.ID)
		if again == nil {
			break
		}
		err = read(again.Body)
		again.Body.Close()
	}
	return broken(h.Where, err)
}

// endSession sends a DELETE if there is a session and the dialect ends sessions that way. It ignores the response.
func (h *httpConn) endSession() {
	if !h.flow.ends.Load() || h.session.Load() == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), deleteTimeout)
	defer cancel()
	req, _, err := h.request(ctx, http.MethodDelete, h.URL, nil)
	if err != nil {
		return
	}
	if resp, err := h.http.Do(req); err == nil {
		resp.Body.Close()
	}
}
