package httpserver

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"rpcx/wire/transport/httpbody"
)

// An answerer writes a stream as the answer to an exchange.
type answerer struct {
	c     *sessionConn
	w     http.ResponseWriter
	r     *http.Request
	x     *servedExchange
	s     *eventLog
	at    int  // the number of the last event that the client has
	plain bool // one message may be the whole answer, as JSON
	begun bool // an event stream has
}

// takesEvents and takesPlain say what a client accepts as an answer.
func takesEvents(r *http.Request) bool { return strings.Contains(accepts(r), "text/event-stream") }

func takesPlain(r *http.Request) bool {
	a := accepts(r)
	return !takesEvents(r) || strings.Contains(a, "json") || strings.Contains(a, "*/*")
}

func accepts(r *http.Request) string {
	return strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
}

// get answers with the standing event stream, or with what a client has not got yet of
// another one.
func (c *sessionConn) get(w http.ResponseWriter, r *http.Request) {
	defer c.enter()()
	if !takesEvents(r) {
		refuse(w, http.StatusNotAcceptable, "an event stream (text/event-stream) is all that there is here")
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // nothing more is read, for as long as it lasts
	a := &answerer{c: c, w: w, r: r, x: c.exchange(r)}
	c.mu.Lock()
	if last := r.Header.Get("Last-Event-ID"); last == "" {
		a.s, a.at = c.streams[0], c.streams[0].sent
	} else {
		a.s, a.at = c.behind(last)
	}
	if a.s != nil {
		a.attach()
	}
	c.mu.Unlock()
	if a.s == nil {
		refuse(w, http.StatusBadRequest, "what came behind that event is not kept")
		return
	}
	a.begin()
	a.answer()
}

// behind finds the stream of an event, and its number there; nil where it is not kept. The
// lock is held.
func (c *sessionConn) behind(id string) (*eventLog, int) {
	stream, number, _ := strings.Cut(id, "-")
	n, err := strconv.Atoi(stream)
	at, err2 := strconv.Atoi(number)
	if err != nil || err2 != nil {
		return nil, 0
	}
	for _, s := range c.streams {
		if s.number == n && s.carries {
			return s, at
		}
	}
	return nil, 0
}

// attach has the stream be read here, and by nobody else any more. The lock is held.
func (a *answerer) attach() {
	a.s.reader = a
	a.s.changed()
}

// answer writes what is said on the stream until that is all, or until nobody reads here.
func (a *answerer) answer() {
	defer a.detach()
	timer := time.NewTimer(plainWithin)
	defer timer.Stop()
	for {
		a.c.mu.Lock()
		reads, events, done, change := a.s.reader == a, a.s.after(a.at), a.s.done(), a.s.change
		a.c.mu.Unlock()
		switch {
		case !reads:
			return
		case !a.begun && done && a.plain && len(events) <= 1:
			a.whole(events)
			return
		case len(events) > 0 && a.s.carries:
			if !a.write(events) {
				return
			}
			continue
		case done:
			return
		}
		select {
		case <-change:
		case <-timer.C:
			if a.s.carries {
				a.begin()
			}
		case <-a.r.Context().Done():
			return
		case <-a.c.over:
			a.last()
			return
		}
	}
}

// last writes what is left when the session is over.
func (a *answerer) last() {
	a.c.mu.Lock()
	events := a.s.after(a.at)
	a.c.mu.Unlock()
	switch {
	case len(events) > 0 && a.s.carries:
		a.write(events)
	case len(events) > 0:
		a.whole(events)
	case !a.begun:
		refuse(a.w, http.StatusNotFound, "the session is over")
	}
}

func (a *answerer) detach() {
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	if a.s.reader == a {
		a.s.reader = nil
		a.s.changed()
	}
	a.c.trim()
}

// patience bounds how long the client may take for so many bytes.
func (a *answerer) patience(n int) {
	_ = http.NewResponseController(a.w).SetWriteDeadline(time.Now().Add(bodyTimeout + atRate(n)))
}

// whole answers with one message, or none.
func (a *answerer) whole(events []loggedEvent) {
	status := http.StatusAccepted
	if len(events) > 0 {
		status = http.StatusOK
		a.w.Header().Set("Content-Type", "application/json")
		a.w.Header().Set("Content-Length", strconv.Itoa(len(events[0].msg)))
		a.patience(len(events[0].msg))
	}
	a.w.WriteHeader(status)
	a.x.answered(status, a.w.Header())
	if len(events) > 0 {
		_, _ = a.w.Write(events[0].msg)
	}
	a.c.drop(a.s) // it has no events by which it could be asked for
}

// begin begins an event stream, with an empty event where the client takes one: by its id
// all that follows can be asked for, should the connection break.
func (a *answerer) begin() {
	if a.begun {
		return
	}
	a.begun = true
	h := a.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	a.patience(0)
	a.w.WriteHeader(http.StatusOK)
	a.x.answered(http.StatusOK, h)
	if a.c.primes {
		_, _ = a.w.Write([]byte("id: " + a.s.event(a.at) + "\nretry: 1000\ndata:\n\n"))
	}
	_ = http.NewResponseController(a.w).Flush()
}

// write writes events, and reports whether that went well.
func (a *answerer) write(events []loggedEvent) bool {
	a.begin()
	var out []byte
	for _, ev := range events {
		out = append(append(append(out, "id: "...), a.s.event(ev.number)...), '\n')
		out = httpbody.AppendEvent(out, ev.msg)
	}
	a.patience(len(out))
	if _, err := a.w.Write(out); err != nil {
		return false
	}
	if http.NewResponseController(a.w).Flush() != nil {
		return false
	}
	a.at = events[len(events)-1].number
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	a.s.wrote(a.at)
	return true
}
