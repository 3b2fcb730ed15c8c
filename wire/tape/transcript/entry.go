package transcript

import (
	"rpcx/wire"
	"rpcx/wire/tape/match"
)

// An Entry is one message of a track: a line, or an element of a batch.
type Entry struct {
	offset      int64
	Hash        uint64 // of a request or notification: see match.Rules.Hash
	length      uint32
	Line        uint32 // the number of its line on the tape
	Method      uint32 // the number of the method: see Transcript.Number
	Own         int32  // of a response: the entry that it answers, or None
	Need        int32  // the last preceding entry of the other side, or None
	Answer      int32  // of a request: the first entry that answers it, or None
	More        int32  // of a response: the next response to the same request, or None
	latest      int32  // of a request: the last response
	elem        int32  // its index in a batch, or None
	Dir         wire.Direction
	Kind        wire.Kind // Request, Notification or Response; Invalid: any other message
	Redacted    bool      // it contains a redacted string
	Handwritten bool      // its line has handwritten members: see Track.Hand
}

// Batched reports whether the entry is an element of a batch.
func (e *Entry) Batched() bool { return e.elem != None }

// Len returns the number of entries of the track.
func (t *Track) Len() int { return len(t.entries) }

// Entry returns entry i.
func (t *Track) Entry(i int32) *Entry { return &t.entries[i] }

// add appends an entry and links it with the request that it answers.
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

// Optional reports whether entry i may be absent in another conversation: the client had closed the connection, or had ended the stream to
// which the entry belongs; or a later exchange about the same job makes it unnecessary.
func (t *Track) Optional(i int32) bool { return t.optional[i] }

// Repeated reports whether entry i belongs to an exchange about a job that a later exchange makes unnecessary.
func (t *Track) Repeated(i int32) bool {
	e := t.Entry(i)
	return t.optional[i] && (e.Dir == wire.Send || e.Own != None && t.optional[e.Own])
}

// Repeats returns the number of repeated entries.
func (t *Track) Repeats() int { return t.repeats }

// Opener returns the response that opened the stream of the server's entry i. It returns None if the entry has no stream, the track has
// only one stream, or no response names it.
func (t *Track) Opener(i int32) int32 {
	if e := t.Entry(i); len(t.openers) > 1 && e.Kind == wire.Notification && e.Dir == wire.Recv {
		return e.latest
	}
	return None
}

// Opens reports whether entry i, a response, opened one of several streams that have later entries.
func (t *Track) Opens(i int32) bool { return len(t.openers) > 1 && t.openers[i] }

// maxHandles bounds the number of strings that are kept to recognise handles.
const maxHandles = 1 << 16

// addHandles stores the strings of msg, which the client sends as entry i.
func (t *Track) addHandles(i int32, msg []byte) {
	match.Strings(msg, func(val []byte) {
		hash := t.of.Rules.HashBytes(val)
		if _, known := t.handles[hash]; !known && len(t.handles) < maxHandles {
			t.handles[hash] = i
		}
	})
}

// IsHandle reports whether the server generated val, a string in entry i, which answers the client: the client sends it later and not
// before.
func (t *Track) IsHandle(i int32, val []byte) bool {
	e := t.Entry(i)
	if e.Dir != wire.Recv || e.Kind != wire.Response {
		return false
	}
	first, known := t.handles[t.of.Rules.HashBytes(val)]
	return known && first > i
}

// IsStream reports whether a JSON text names a stream that has an item on the track.
func (t *Track) IsStream(id []byte) bool {
	return t.streams[t.of.Rules.HashBytes(id)]
}
