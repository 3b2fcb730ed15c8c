package session

import (
	"bytes"
	"sync"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// A postRecording records one POST to a listener. On the tape, the line of the HTTP exchange precedes the messages of
// the response, as in the recording of a client. So these messages are queued until the exchange is known.
type postRecording struct {
	recording
	answers wire.Direction // the direction of the messages of the answer

	mu   sync.Mutex
	told bool // the exchange has been recorded
	held [][]byte
}

// message records a message, as a wire.Tap.
func (a *postRecording) message(d wire.Direction, msg []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if d == a.answers && !a.told {
		a.held = append(a.held, bytes.Clone(msg))
		return
	}
	a.to.Message(d, msg)
}

// messages is message for several messages. It is a wire.Record.
func (a *postRecording) messages(d wire.Direction, msg []byte, more ...[]byte) {
	a.message(d, msg)
	for _, msg := range more {
		a.message(d, msg)
	}
}

// exchange records the HTTP exchange, and then the queued messages.
func (a *postRecording) exchange(x transport.Exchange) {
	a.exchanged(nil)(x)
	a.over()
}

// over records the queued messages.
func (a *postRecording) over() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told = true
	for _, msg := range a.held {
		a.to.Message(a.answers, msg)
	}
	a.held = nil
}

// An exchangeTeller is a Conn that belongs to an HTTP exchange.
type exchangeTeller interface {
	OnExchange(tell func(transport.Exchange))
}

// from records the HTTP exchange of conn, if it has one. answers is the direction of the messages of the response, from
// the tap's view.
func (r recording) from(conn wire.Conn, answers wire.Direction) recording {
	by, ok := conn.(exchangeTeller)
	if !ok || r.to == nil {
		return r
	}
	if _, post := conn.(wire.SingleExchange); !post {
		by.OnExchange(r.exchanged(nil))
		return r
	}
	r.post = &postRecording{recording: r, answers: answers}
	by.OnExchange(r.post.exchange)
	return r
}

// answered records that nothing more is sent in the recorded POST, if it is one.
func (r recording) answered() {
	if r.post != nil {
		r.post.over()
	}
}
