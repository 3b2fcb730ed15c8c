package transcript

import (
	"slices"

	"rpcx/wire"
	"rpcx/wire/tape/match"
)

// An Entry is one message of a track: a line, or one element of a batch.
type Entry struct {
	offset      int64
	Hash        uint64 // of a request or notification (see match.Rules.Hash)
	length      uint32
	Line        uint32 // the line number on the tape
	Method      uint32 // the number of the method (see Transcript.Number)
	Own         int32  // of a response: the entry of its request, or None
	Need        int32  // the last preceding entry of the other side, or None
	Answer      int32  // of a request: the entry of its first response, or None
	More        int32  // of a response: the next response to the same request, or None
	latest      int32  // of a request: its last response
	elem        int32  // its index in a batch, or None
	Dir         wire.Direction
	Kind        wire.Kind // Invalid for a message that is neither a request, notification nor response
	Redacted    bool      // whether the entry contains a redacted string
	Handwritten bool      // its line has handwritten members (see Track.HandwrittenLine)
}

// Batched reports whether the entry is an element of a batch.
func (e *Entry) Batched() bool { return e.elem != None }

// Len returns the number of entries of the track.
func (t *Track) Len() int { return len(t.entries) }

// Entry returns entry i.
func (t *Track) Entry(i int32) *Entry { return &t.entries[i] }

// add appends an entry and links it to the request that it answers.
func (t *Track) add(e Entry) {
	i := int32(len(t.entries))
	e.Answer, e.More = None, None
	if e.Kind != wire.Notification {
		e.latest = None
	}
	t.entries = append(t.entries, e)
	if e.Own == None {
		return
	}
	own := t.Entry(e.Own)
	if own.Answer == None {
		own.Answer = i
	} else {
		t.Entry(own.latest).More = i
	}
	own.latest = i
}

// Binary reports whether entry i is a binary WebSocket message.
func (t *Track) Binary(i int32) bool { return t.binary[i] }

// Optional reports whether entry i may be absent from another conversation. This holds after the client closed the connection or ended the
// entry's stream, and for exchanges about a job before later ones, and for Loose entries.
func (t *Track) Optional(i int32) bool { return t.optional[i] || t.Loose(i) }

// Loose reports whether entry i is a notification of the server whose number and values are not compared: a line of its method is marked
// as optional.
func (t *Track) Loose(i int32) bool {
	e := t.Entry(i)
	return e.Kind == wire.Notification && e.Dir == wire.Recv && t.loose[e.Method]
}

// Notifies reports whether the server sends a notification of the method.
func (t *Track) Notifies(method string) bool {
	n, ok := t.of.Number(method)
	return ok && slices.ContainsFunc(t.entries, func(e Entry) bool {
		return e.Kind == wire.Notification && e.Dir == wire.Recv && e.Method == n
	})
}

// LooseMethod is Loose for the notifications of a method.
func (t *Track) LooseMethod(method string) bool {
	n, ok := t.of.Number(method)
	return ok && t.loose[n]
}

// Repeated reports whether entry i belongs to an exchange about a job that has a later exchange.
func (t *Track) Repeated(i int32) bool {
	e := t.Entry(i)
	return t.optional[i] && (e.Dir == wire.Send || e.Own != None && t.optional[e.Own])
}

// Repeats returns the number of repeated entries.
func (t *Track) Repeats() int { return t.repeats }

// Opener returns the response that opened the stream of the server's entry i. It returns None if the entry has no stream, if the track
// has only one stream, or if no response names the stream.
func (t *Track) Opener(i int32) int32 {
	if e := t.Entry(i); len(t.openers) > 1 && e.Kind == wire.Notification && e.Dir == wire.Recv {
		return e.latest
	}
	return None
}

// Opens reports whether the response at entry i opened one of several streams with later entries.
func (t *Track) Opens(i int32) bool { return len(t.openers) > 1 && t.openers[i] }

// maxHandles bounds the strings that are stored to recognize handles.
const maxHandles = 1 << 16

// addHandles stores the strings of msg, the client's entry i.
func (t *Track) addHandles(i int32, msg []byte) {
	match.Strings(msg, func(val []byte) {
		hash := t.of.Rules.HashBytes(val)
		if _, known := t.handles[hash]; !known && len(t.handles) < maxHandles {
			t.handles[hash] = i
		}
	})
}

// IsHandle reports whether the server generated val, a string in entry i: the client sends val only after entry i.
func (t *Track) IsHandle(i int32, val []byte) bool {
	e := t.Entry(i)
	if e.Dir != wire.Recv || e.Kind != wire.Response {
		return false
	}
	first, known := t.handles[t.of.Rules.HashBytes(val)]
	return known && first > i
}

// IsStream reports whether a JSON text names a stream with an item on the track.
func (t *Track) IsStream(id []byte) bool {
	return t.streams[t.of.Rules.HashBytes(id)]
}
