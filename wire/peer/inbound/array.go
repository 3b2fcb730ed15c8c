package inbound

import "slices"

// An Array collects the responses to one array of requests from the peer. They are sent as one message. Methods of a
// nil Array behave as if it were empty.
type Array struct {
	replies  [][]byte
	after    []func() // send the messages that follow the responses
	bytes    int      // the total size of replies and of these messages
	left     int      // how many responses are missing
	complete bool     // all messages of the array have been routed
	sent     bool
}

// owe reserves a place for one more response and returns its index.
func (a *Array) owe() (index int) {
	if a == nil {
		return 0
	}
	a.replies = append(a.replies, nil)
	a.left++
	return len(a.replies) - 1
}

// Put stores the first response to r, which is a request of a. A nil msg means that r has no response.
func (a *Array) Put(r *Request, msg []byte) {
	a.replies[r.index] = msg
	a.bytes += len(msg)
	a.left--
}

// After delays a message of n bytes, which a handler sends after its own response, until the responses of a are sent.
func (a *Array) After(n int, send func()) {
	a.after = append(a.after, send)
	a.bytes += n
}

// Complete records that a has no more requests.
func (a *Array) Complete() { a.complete = true }

// Send returns the responses once all are complete (there may be none), and the functions that send what follows. ok is true for only
// one call.
func (a *Array) Send() (replies [][]byte, after []func(), ok bool) {
	if !a.complete || a.left > 0 || a.sent {
		return nil, nil, false
	}
	a.sent = true
	replies = slices.DeleteFunc(a.replies, func(r []byte) bool { return r == nil })
	after = a.after
	a.replies, a.after = nil, nil
	return replies, after, true
}

// Waiting reports whether the responses of a have not been sent yet.
func (a *Array) Waiting() bool { return a != nil && !a.sent }

// Bytes returns the total size of the unsent responses of a.
func (a *Array) Bytes() int {
	if !a.Waiting() {
		return 0
	}
	return a.bytes
}
