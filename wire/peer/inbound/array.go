package inbound

import "slices"

// An Array collects the responses to one array of requests from the peer. They are sent as one message. Methods of a
// nil Array behave as if it were empty.
type Array struct {
	replies  [][]byte
	bytes    int  // the total size of replies
	left     int  // how many responses are missing
	complete bool // all messages of the array have been routed
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

// Complete records that a has no more requests.
func (a *Array) Complete() { a.complete = true }

// Send returns the responses once all are complete; there may be none. ok is true for only one call.
func (a *Array) Send() (replies [][]byte, ok bool) {
	if !a.complete || a.left > 0 || a.sent {
		return nil, false
	}
	a.sent = true
	replies = slices.DeleteFunc(a.replies, func(r []byte) bool { return r == nil })
	a.replies = nil
	return replies, true
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
