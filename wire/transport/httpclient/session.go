package httpclient

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"

	"rpcx/wire/scan"
	"rpcx/wire/transport/httpbody"
)

// An httpSession is what a client's exchanges have in common where a dialect makes a
// session of them (wire.HTTPSession).
type httpSession struct {
	mu      sync.Mutex
	headers http.Header
	resumes bool               // an event stream that ends before its answer is asked for once more
	ends    bool               // the session is ended by a DELETE
	stop    context.CancelFunc // ends the standing event stream; nil: there has been none
}

const (
	maxResumes    = 5                      // how often an answer is asked for once more that brought nothing
	maxReopens    = 5                      // how often a standing event stream is, likewise
	reopenPause   = time.Second            // before that, where the server does not say
	minRetry      = 50 * time.Millisecond  // before a further try, whatever it says
	openTimeout   = 250 * time.Millisecond // for the standing event stream to be there
	deleteTimeout = 2 * time.Second
)

// SetHeader has each exchange from here on carry a header.
func (h *httpConn) SetHeader(name, value string) {
	h.flow.mu.Lock()
	defer h.flow.mu.Unlock()
	if h.flow.headers == nil {
		h.flow.headers = http.Header{}
	}
	h.flow.headers.Set(name, value)
}

// EndByDelete has Close tell the server that the session is over.
func (h *httpConn) EndByDelete() {
	h.flow.mu.Lock()
	defer h.flow.mu.Unlock()
	h.flow.ends = true
}

// setSession adds what belongs to the session to the head of a request. It returns the
// session's name; nil where there is none.
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

// lose forgets the session of that name, where the dialect has made one, as the server has.
// It reports whether that was one.
func (h *httpConn) lose(id *string) bool {
	h.flow.mu.Lock()
	defer h.flow.mu.Unlock()
	if id == nil || !h.flow.resumes {
		return false
	}
	if h.session.CompareAndSwap(id, nil) {
		h.flow.headers = nil
	}
	return true
}

// ReadEvents begins to read what the server says outside of our exchanges, in a standing
// event stream; Recv returns it. A server that has none is none the worse for it. It waits
// for the stream to be there, but not long: what a server asks before that may be lost.
// From here on answers are resumed, too.
func (h *httpConn) ReadEvents(over func()) {
	if h.events.Load() != nil { // it is read already
		return
	}
	if !h.begin() {
		over()
		return
	}
	ctx, cancel := context.WithCancel(h.ctx)
	h.flow.mu.Lock()
	if h.flow.stop != nil {
		h.flow.stop() // that of a session before
	}
	h.flow.resumes, h.flow.stop = true, cancel
	h.flow.mu.Unlock()
	there := make(chan struct{})
	go func() {
		defer h.going.Done()
		defer cancel()
		defer over()
		h.readEvents(ctx, sync.OnceFunc(func() { close(there) }))
	}()
	select {
	case <-there:
	case <-time.After(openTimeout):
	}
}

// readEvents reads the standing event stream, and opens it anew when it ends, until the
// server says that there is none, or it brings nothing again and again. It calls answered
// when the server has answered.
func (h *httpConn) readEvents(ctx context.Context, answered func()) {
	defer answered()
	at := httpbody.Position{Retry: reopenPause}
	for idle := 0; idle < maxReopens; idle++ {
		resp, err := h.get(ctx, at.ID)
		if err != nil {
			return
		}
		answered()
		if !isEvents(resp) {
			resp.Body.Close()
			return
		}
		_ = httpbody.Events(resp.Body, h.max, &at, func(msg []byte) {
			idle = 0
			select {
			case h.queue <- bytes.Clone(msg):
			case <-ctx.Done():
			}
		})
		resp.Body.Close()
		if !pause(ctx, max(at.Retry, minRetry)) {
			return
		}
	}
}

// pause waits, and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func isEvents(resp *http.Response) bool {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return resp.StatusCode == http.StatusOK && media == "text/event-stream"
}

// get asks for an event stream, behind the event of that id where there is one.
func (h *httpConn) get(ctx context.Context, last string) (*http.Response, error) {
	req, _, err := h.request(ctx, http.MethodGet, h.URL, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	return h.http.Do(req)
}

// resumed hands the messages of an answer to recv. Where it is an event stream whose events
// have ids, and which ends before the answer to msg has come, the rest is asked for.
func (h *httpConn) resumed(ctx context.Context, msg []byte, resp *http.Response, recv func([]byte)) error {
	h.flow.mu.Lock()
	resumes := h.flow.resumes
	h.flow.mu.Unlock()
	id := scan.Get(msg, "id")
	if !resumes || !isEvents(resp) || id == nil || scan.Get(msg, "method") == nil {
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
		if at.ID != last { // it gets on, as a server does that has its client ask now and then
			tries, last = 0, at.ID
		}
		if !pause(ctx, wait) {
			break
		}
		again, gerr := h.get(ctx, at.ID)
		if gerr != nil {
			break
		}
		if !isEvents(again) {
			again.Body.Close()
			break
		}
		err = read(again.Body)
		again.Body.Close()
	}
	return h.broken(err)
}

// endSession tells the server that the session is over, where it began one and the
// dialect says so. What it answers does not matter.
func (h *httpConn) endSession() {
	h.flow.mu.Lock()
	ends := h.flow.ends
	h.flow.mu.Unlock()
	if !ends || h.session.Load() == nil {
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
