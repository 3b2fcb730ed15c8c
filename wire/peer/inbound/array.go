package inbound

import "slices"

// An Array collects the responses to one array of the peer's requests, which are sent as one message. A nil Array
// contains nothing.
type Array struct {
	replies  [][]byte
	bytes    int  // the size of replies
	left     int  // the number of missing responses
	complete bool // all messages of the array have been routed
	sent     bool
}

// owe reserves a place for another response and returns its index.
func (a *Array) owe() (index int) {
	if a == nil {
		return 0
	}
	a.replies = append(a.replies, nil)
	a.left++
	return len(a.replies) - 1
}

// Put stores the first response to r, which arrived in a. If msg is nil, r has no response.
func (a *Array) Put(r *Request, msg []byte) {
	a.replies[r.index] = msg
	a.bytes += len(msg)
	a.left--
}

// Complete records that no more requests belong to a.
func (a *Array) Complete() { a.complete = true }

// Send returns the responses when they are complete, possibly none. ok is true for the one call that returns them.
func (a *Array) Send() (replies [][]byte, ok bool) {
	if !a.complete || a.left > 0 || a.sent {
		return nil, false
	}
	a.sent = true
	replies = slices.DeleteFunc(a.replies, func(r []byte) bool { return r == nil })
	a.replies = nil
	return replies, true
}

// Waiting reports whether the responses of a have not been sent.
func (a *Array) Waiting() bool { return a != nil && !a.sent }

// Bytes returns the size of the unsent responses in a.
func (a *Array) Bytes() int {
	if !a.Waiting() {
		return 0
	}
	return a.bytes
}
