package httpserver

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A reply writes the response to a request: one message as JSON, no message, or an event stream.
type reply struct {
	*servedExchange
	w      http.ResponseWriter
	begun  bool                  // the event stream has started
	status func(code string) int // returns the HTTP status for the code of an error response; if it is nil, the status is 200
}

// takesEvents reports whether the client accepts event streams. takesPlain reports whether it accepts JSON.
func takesEvents(r *http.Request) bool { return strings.Contains(accepts(r), "text/event-stream") }

func takesPlain(r *http.Request) bool {
	a := accepts(r)
	return !takesEvents(r) || strings.Contains(a, "json") || strings.Contains(a, "*/*")
}

func accepts(r *http.Request) string {
	return strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
}

// patience sets the deadline by which the client must have read n bytes.
func (a *reply) patience(n int) {
	_ = http.NewResponseController(a.w).SetWriteDeadline(time.Now().Add(bodyTimeout + atRate(n)))
}

// whole sends a response of one message. If msg is nil, the response has no body, and none is its status.
func (a *reply) whole(msg []byte, none int) {
	status, head := none, a.w.Header()
	if msg != nil {
		status = a.statusOf(msg)
		head.Set("Content-Type", "application/json")
		head.Set("Content-Length", strconv.Itoa(len(msg)))
	}
	a.w.WriteHeader(status)
	a.answered(status, head)
	if msg != nil {
		_, _ = a.w.Write(msg)
	}
}

// begin starts an event stream. It returns false if the stream has already been started.
func (a *reply) begin() bool {
	if a.begun {
		return false
	}
	a.begun = true
	h := a.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	a.w.WriteHeader(http.StatusOK)
	a.answered(http.StatusOK, h)
	return true
}

// write sends events at once.
func (a *reply) write(events []byte) error {
	_, err := a.w.Write(events)
	if err == nil {
		err = http.NewResponseController(a.w).Flush()
	}
	return err
}
