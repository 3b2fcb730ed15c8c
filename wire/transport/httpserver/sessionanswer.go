package httpserver

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"rpcx/wire/transport/httpbody"
)

// An answerer writes the events of a stream as the response to an exchange.
type answerer struct {
	reply
	c     *sessionConn
	s     *eventLog
	at    int  // the number of the last event that the client has received
	plain bool // the whole response may be one JSON message
	opens bool // the request is the one that starts the session, whose name the client does not have yet
}

// get responds with the standing event stream, or with those events of another stream that the client has not received.
func (c *sessionConn) get(w http.ResponseWriter, r *http.Request) {
	defer c.enter()()
	if !takesEvents(r) {
		c.in.refused.refuse(w, r, http.StatusNotAcceptable, "only an event stream (text/event-stream) is available")
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // no more is read from the client
	a := &answerer{reply: reply{servedExchange: c.exchange(r), w: w}, c: c}
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
		c.in.refused.refuse(w, r, http.StatusBadRequest, "the Last-Event-ID is unknown, or its stream is no longer available")
		return
	}
	a.begin()
	a.answer()
}

// behind returns the stream that contains the event with this id, and the event's number. It returns nil if the id is
// unknown. The caller holds the lock.
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

// attach makes a the only reader of its stream. The caller holds the lock.
func (a *answerer) attach() {
	a.s.reader = a
	a.s.change.Pass()
}

// answer sends the messages of the stream until the stream ends or another reader has replaced a.
func (a *answerer) answer() {
	defer a.detach()
	timer := time.NewTimer(plainWithin)
	defer timer.Stop()
	for {
		change, continues := a.catchUp()
		if !continues {
			return
		}
		select {
		case <-change:
		case <-timer.C:
			if a.s.carries && !a.opens {
				a.begin()
			}
		case <-a.r.Context().Done():
			if !a.begun {
				a.cut()
			}
			return
		case <-a.c.ctx.Done():
			a.last()
			return
		}
	}
}

// catchUp sends the messages of the stream that are available. The channel change is closed when there are more. continues
// is false if the response is complete.
func (a *answerer) catchUp() (change <-chan struct{}, continues bool) {
	for {
		a.c.mu.Lock()
		reads, events, done, change := a.s.reader == a, a.s.after(a.at), a.s.done(), a.s.change.Wait()
		a.c.mu.Unlock()
		switch {
		case !reads:
			return nil, false
		case !a.begun && done && a.plain && len(events) <= 1:
			a.whole(events)
			return nil, false
		case len(events) == 0 || !a.s.carries:
			return change, !done
		case !a.write(events):
			return nil, false
		}
	}
}

// last sends the remaining messages when the session ends.
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
		http.Error(a.w, "the session has ended", http.StatusNotFound)
	}
}

func (a *answerer) detach() {
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	if a.s.reader == a {
		a.s.reader = nil
		a.s.change.Pass()
	}
	a.c.trim()
}

// whole sends a response of one message, or of none.
func (a *answerer) whole(events []loggedEvent) {
	var msg []byte
	if len(events) > 0 {
		msg = events[0].msg
		a.patience(len(msg))
		a.nameSession()
	}
	a.reply.whole(msg, http.StatusAccepted)
	a.c.drop(a.s) // without event ids, no client can request the response again
}

// begin starts an event stream. If clients support it, the stream begins with an empty event, and the client can resume
// from its id.
func (a *answerer) begin() {
	a.patience(0)
	a.nameSession()
	if a.reply.begin() {
		var out []byte
		if a.c.primes {
			out = []byte("id: " + a.s.event(a.at) + "\nretry: 1000\ndata:\n\n")
		}
		_ = a.reply.write(out)
	}
}

// nameSession adds the name of the session to the head of the response, if the response is the one that starts the
// session and does not reject the message.
func (a *answerer) nameSession() {
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	if a.opens && !a.c.refused {
		a.w.Header().Set(a.c.in.rules.Header, a.c.id)
	}
	a.opens = false
}

// write sends events. It returns false if that failed.
func (a *answerer) write(events []loggedEvent) bool {
	a.begin()
	var out []byte
	for _, ev := range events {
		out = append(append(append(out, "id: "...), a.s.event(ev.number)...), '\n')
		out = httpbody.AppendEvent(out, ev.msg)
	}
	a.patience(len(out))
	if a.reply.write(out) != nil {
		return false
	}
	a.at = events[len(events)-1].number
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	a.s.wrote(a.at)
	a.c.count()
	return true
}
