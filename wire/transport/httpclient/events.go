package httpclient

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/transport"
	"rpcx/wire/transport/httpbody"
)

// An eventsConn is a connection that uses the older HTTP with SSE of the Model Context Protocol (2024-11-05). All
// messages from the server arrive on one event stream, whose first event contains the address for POSTs.
type eventsConn struct {
	h  *httpConn
	to string

	mu      sync.Mutex
	waiting map[string]*awaited // by request id
	ended   chan struct{}       // closed when the event stream has ended
}

// awaited is a request that is waiting for its response.
type awaited struct {
	recv func([]byte)
	done chan struct{}
}

// usesOlderSSE is called when a server has rejected the first POST with err. It reports whether the server uses the
// older HTTP with SSE. If so, it has started the event stream.
func (h *httpConn) usesOlderSSE(ctx context.Context, err error) bool {
	f := wire.AsFault(err)
	if h.c.Sessions == nil || f == nil || f.HTTP == nil {
		return false
	}
	switch f.HTTP.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
	default:
		return false
	}
	if !h.begin() {
		return false
	}
	e := &eventsConn{h: h, waiting: map[string]*awaited{}, ended: make(chan struct{})}
	found := make(chan bool, 1)
	go func() {
		defer h.going.Done()
		e.read(found)
	}()
	select {
	case ok := <-found:
		return ok
	case <-ctx.Done():
		return false
	}
}

// read reads the event stream until it ends. It sends to found whether the server uses HTTP with SSE.
func (e *eventsConn) read(found chan<- bool) {
	defer close(e.ended)
	defer func() { found <- false }() // has no effect if read has already sent true
	resp := e.h.events(e.h.ctx, "")
	if resp == nil {
		return
	}
	defer resp.Body.Close()
	var at httpbody.Position
	_ = httpbody.Events(resp.Body, e.h.max, &at, func(msg []byte) {
		switch {
		case at.Event != "endpoint":
			e.deliver(msg)
		case e.to == "" && e.setAddress(msg):
			e.h.older.Store(e)
			found <- true
		}
	})
	if e.to != "" {
		e.h.cancel() // the connection has ended
	}
}

// setAddress stores the address for POSTs, and reports whether it is acceptable. Its origin must be that of the event
// stream, so that a server cannot redirect messages.
func (e *eventsConn) setAddress(text []byte) bool {
	base, err := url.Parse(e.h.URL)
	if err != nil {
		return false
	}
	to, err := base.Parse(string(bytes.TrimSpace(text)))
	if err != nil || transport.Origin(to) != transport.Origin(base) {
		return false
	}
	to.User = nil
	e.to = to.String()
	return true
}

// deliver passes a message to the request whose response it is, or else to Recv.
func (e *eventsConn) deliver(msg []byte) {
	if id := wire.ID(scan.Get(msg, "id")).Key(); id != nil && scan.Get(msg, "method") == nil {
		e.mu.Lock()
		a := e.waiting[string(id)]
		delete(e.waiting, string(id))
		e.mu.Unlock()
		if a != nil {
			a.recv(msg)
			close(a.done)
			return
		}
	}
	e.h.enqueue(e.h.ctx, msg)
}

// exchange posts a message. If the message is a request, exchange waits for the response.
func (e *eventsConn) exchange(ctx context.Context, msg []byte, recv func([]byte)) error {
	id := wire.ID(scan.Get(msg, "id")).Key()
	a := &awaited{recv, make(chan struct{})}
	if id != nil && scan.Get(msg, "method") != nil {
		e.mu.Lock()
		e.waiting[string(id)] = a
		e.mu.Unlock()
		defer func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			delete(e.waiting, string(id))
		}()
	} else {
		close(a.done)
	}
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { wire.Sent(ctx) }})
	req, _, err := e.h.request(traced, http.MethodPost, e.to, msg)
	if err != nil {
		return err
	}
	resp, err := e.h.http.Do(req)
	if err != nil {
		return e.h.notAnswered(ctx, true, false, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return e.h.answer(resp, recv)
	}
	select {
	case <-a.done:
		return nil
	case <-e.ended:
		return closedFault(e.h.Where, &wire.CloseError{Err: errors.New("the event stream ended before the response")})
	case <-ctx.Done():
		return ctx.Err()
	}
}
