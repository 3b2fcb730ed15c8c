package transcript

import (
	"encoding/binary"

	"rpcx/wire"
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
	elem        int32  // its index in a batch; None: it is a message of its own
	Dir         wire.Direction
	Kind        wire.Kind // Request, Notification, Response; Invalid: anything else
	Redacted    bool      // it holds a redacted string
	Handwritten bool      // people wrote something into its line: see Track.Hand
}

// Batched reports whether the entry is an element of a batch.
func (e *Entry) Batched() bool { return e.elem != None }

// entryBytes is the size of an entry where it is kept.
const entryBytes = 56

// Bits of the last byte of an entry.
const (
	bitRedacted = 1 << iota
	bitHandwritten
)

// pack writes the entry to b.
func (e *Entry) pack(b []byte) {
	le := binary.LittleEndian
	le.PutUint64(b, uint64(e.offset))
	le.PutUint64(b[8:], e.Hash)
	for i, n := range [...]uint32{
		e.length, e.Line, e.Method, uint32(e.Own), uint32(e.Need), uint32(e.Answer), uint32(e.More), uint32(e.latest), uint32(e.elem),
	} {
		le.PutUint32(b[16+4*i:], n)
	}
	b[52], b[53], b[54] = byte(e.Dir), byte(e.Kind), 0
	if e.Redacted {
		b[54] |= bitRedacted
	}
	if e.Handwritten {
		b[54] |= bitHandwritten
	}
}

// unpack reads what pack wrote.
func (e *Entry) unpack(b []byte) {
	le := binary.LittleEndian
	at := func(i int) uint32 { return le.Uint32(b[16+4*i:]) }
	*e = Entry{
		offset: int64(le.Uint64(b)), Hash: le.Uint64(b[8:]), length: at(0), Line: at(1), Method: at(2),
		Own: int32(at(3)), Need: int32(at(4)), Answer: int32(at(5)), More: int32(at(6)), latest: int32(at(7)), elem: int32(at(8)),
		Dir: wire.Direction(b[52]), Kind: wire.Kind(b[53]), Redacted: b[54]&bitRedacted != 0, Handwritten: b[54]&bitHandwritten != 0,
	}
}

// Len returns how many entries the track has.
func (t *Track) Len() int { return int(t.n) }

// Entry returns entry i.
func (t *Track) Entry(i int32) (e Entry) {
	var b [entryBytes]byte
	t.entries.Get(int(i), b[:])
	e.unpack(b[:])
	return e
}

// set makes e entry i.
func (t *Track) set(i int32, e *Entry) {
	var b [entryBytes]byte
	e.pack(b[:])
	t.entries.Set(int(i), b[:])
}

// add appends an entry, and links it with the request that it answers.
func (t *Track) add(e *Entry) {
	i := t.n
	t.n++
	e.Answer, e.More, e.latest = None, None, None
	t.set(i, e)
	if e.Own == None {
		return
	}
	own := t.Entry(e.Own)
	if own.Answer == None {
		own.Answer = i
	} else {
		before := t.Entry(own.latest)
		before.More = i
		t.set(own.latest, &before)
	}
	own.latest = i
	t.set(e.Own, &own)
}

// IsStream reports whether a JSON text is the name of a stream that an item on the track
// belongs to.
func (t *Track) IsStream(id []byte) bool {
	_, ok := t.streams.Get(t.of.Rules.HashBytes(id))
	return ok
}
