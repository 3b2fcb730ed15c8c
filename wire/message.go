package wire

import (
	"bytes"
	"encoding/json"

	"rpcx/wire/scan"
)

// An ID is a JSON token as on the wire. nil is not an id. `1` and `"1"` are different ids. `1` and `1.0` are spellings of
// the same id, so ids are compared by their keys.
type ID []byte

// Key returns the same bytes for all spellings of an id. Usual ids are their own keys.
func (id ID) Key() ID { return scan.Canonical(id) }

// Clone returns a copy that shares no memory.
func (id ID) Clone() ID { return bytes.Clone(id) }

// String returns the token.
func (id ID) String() string { return string(id) }

// A Kind is the kind of a message in any dialect.
type Kind uint8

const (
	Invalid      Kind = iota // malformed, but the connection can continue; Err is the response
	Request                  // a request in either direction
	Notification             // a request without a response
	Response                 // a response to the request with the same ID
	Item                     // an element of Stream
	Cancel                   // asks the other side to end the request or stream in Target
	Handshake                // a message of the handshake
)

var kindNames = [...]string{"invalid", "request", "notification", "response", "item", "cancel", "greeting"}

// String returns the kind in lower case.
func (k Kind) String() string { return kindNames[k] }

// A Message is one whole message in any dialect. Until it is cloned, its slices are plain sub-slices of Raw (never
// re-capped), and are valid as long as Raw is.
type Message struct {
	Kind    Kind
	ID      ID              // the id of a request or response, or nil
	Stream  ID              // the stream of an Item, or the stream that a Response opens
	Target  ID              // the target of a Cancel, or for an Item with Beside the call of its exchange
	Final   bool            // the last response of this call, or the last item of this stream
	Beside  bool            // an Item that is part of another message, which is also delivered
	Interim bool            // a Response before the result: it requests input or names work that continues; Body is the whole response
	Bare    bool            // an Invalid message from a server that becomes an event: Method is the server's name for it, and Body is the whole message
	Awaited bool            // a Notification that was part of the handshake
	Claimed bool            // a Notification about a local call; the call received it as an event, or has ended
	Method  string          // the name of the method, binding, callback or type, as users type it
	Params  json.RawMessage // the complete params of a Request, Notification or Item, or nil
	Body    json.RawMessage // the part that users see: a result, an item's payload, or a notification's params
	Err     *Error          // the error of a Response or Item, or the problem of an Invalid message
	Raw     []byte          // the message on the wire
	Event   *Event          // the event, if another rpcx process has decoded it, or nil
}

// Clone returns a copy of m that shares no memory.
func (m Message) Clone() Message {
	var c Message
	c.CopyOf(&m, make([]byte, 0, len(m.Raw)))
	return c
}

// CopyOf makes c a copy of m whose slices point into buf, to which it appends m.Raw. It returns the new buf. It clones
// slices outside of Raw.
func (c *Message) CopyOf(m *Message, buf []byte) []byte {
	start := len(buf)
	buf = append(buf, m.Raw...)
	raw := buf[start:len(buf):len(buf)]
	*c = *m
	c.Raw = raw
	c.ID = moved(m.ID, m.Raw, raw)
	c.Stream = moved(m.Stream, m.Raw, raw)
	c.Target = moved(m.Target, m.Raw, raw)
	c.Params = moved(m.Params, m.Raw, raw)
	c.Body = moved(m.Body, m.Raw, raw)
	if m.Err != nil {
		c.Err = m.Err.Clone()
	}
	return buf
}

// moved returns the slice of dst that corresponds to part, a slice of src. A plain sub-slice keeps the capacity to the
// end, so the difference of capacities is its offset.
func moved[T ~[]byte](part T, src, dst []byte) T {
	if part == nil {
		return nil
	}
	off := cap(src) - cap(part)
	if len(part) == 0 || off < 0 || off+len(part) > len(src) || &src[off] != &part[0] {
		return bytes.Clone(part)
	}
	return T(dst[off : off+len(part)])
}
