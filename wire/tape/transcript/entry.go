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
	Line        uint32 // its line's number on the tape
	Method      uint32 // the number of its method: see Transcript.Number
	Own         int32  // of a response: the entry that it answers; else None
	Need        int32  // the last entry of the other side before it, or None
	Answer      int32  // of a request: the first entry that answers it; None
	More        int32  // of a response: the next one to the same request; None
	latest      int32  // of a request: the last one; None
	elem        int32  // its index in a batch; None: not in a batch
	Dir         wire.Direction
	Kind        wire.Kind // Request, Notification, Response; Invalid: anything else
	Redacted    bool      // it holds a redacted string
	Handwritten bool      // people wrote something into its line: see Track.Hand
}

// Batched reports whether the entry is an element of a batch.
func (e *Entry) Batched() bool { return e.elem != None }

// Len returns how many entries the track has.
func (t *Track) Len() int { return len(t.entries) }

// Entry returns entry i.
func (t *Track) Entry(i int32) *Entry { return &t.entries[i] }

// add appends an entry, and links it with the request that it answers.
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

// Binary reports whether entry i is a binary message of a WebSocket.
func (t *Track) Binary(i int32) bool { return t.binary[i] }

// Refused returns the HTTP status with which the server refused the request at entry i; 0 means it did not.
func (t *Track) Refused(i int32) int { return t.refused[i] }

// Opener returns the response that opened the stream to which the server's entry i belongs; None if it belongs to none, the
// track has only one, or no response has its name.
func (t *Track) Opener(i int32) int32 {
	if e := t.Entry(i); len(t.openers) > 1 && e.Kind == wire.Notification && e.Dir == wire.Recv {
		return e.latest
	}
	return None
}

// Opens reports whether entry i, a response, opened one of several streams to which later entries belong.
func (t *Track) Opens(i int32) bool { return len(t.openers) > 1 && t.openers[i] }

// maxHandles bounds the strings that are remembered to recognise handles.
const maxHandles = 1 << 16

// addHandles remembers the strings of msg, which the client sends as entry i.
func (t *Track) addHandles(i int32, msg []byte) {
	match.Strings(msg, func(val []byte) {
		hash := t.of.Rules.HashBytes(val)
		if _, known := t.handles[hash]; !known && len(t.handles) < maxHandles {
			t.handles[hash] = i
		}
	})
}

// IsHandle reports whether val, a string in entry i, which answers the client, is one that the client
// sends later and not before: the server made it up.
func (t *Track) IsHandle(i int32, val []byte) bool {
	e := t.Entry(i)
	if e.Dir != wire.Recv || e.Kind != wire.Response {
		return false
	}
	first, known := t.handles[t.of.Rules.HashBytes(val)]
	return known && first > i
}

// IsStream reports whether a JSON text is the name of a stream that an item on the track
// belongs to.
func (t *Track) IsStream(id []byte) bool {
	return t.streams[t.of.Rules.HashBytes(id)]
}
