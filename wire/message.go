package wire

import (
	"bytes"
	"encoding/json"
)

// An ID is a JSON token as on the wire: `1`, `"1"` and `1.0` are three different ids. nil is not an id.
type ID []byte

// Clone returns a copy with its own memory.
func (id ID) Clone() ID { return bytes.Clone(id) }

// String returns the token.
func (id ID) String() string { return string(id) }

// A Kind classifies messages in the same way in every dialect.
type Kind uint8

// These are the kinds of messages.
const (
	Invalid      Kind = iota // malformed, but the connection can continue; Err is the answer to it
	Request                  // in either direction
	Notification             // a request without a response
	Response                 // answers the request with the same ID
	Item                     // an element of a stream, see Stream
	Cancel                   // asks the other side to end the request or stream in Target
	Handshake                // a message of the handshake
)

var kindNames = [...]string{"invalid", "request", "notification", "response", "item", "cancel", "greeting"}

// String returns the kind in lower case.
func (k Kind) String() string { return kindNames[k] }

// A Message is one whole message in any dialect. Its byte slices are plain sub-slices of Raw (never re-capped) until it
// is cloned, so that they are valid as long as Raw is.
type Message struct {
	Kind    Kind
	ID      ID              // of a request or response, or nil
	Stream  ID              // the stream to which an Item belongs, or which a Response opens
	Target  ID              // the target of a Cancel; for an Item with Beside set, the call to which it belongs, if it arrived in that call's exchange
	Final   bool            // no more answers to this call, or items of this stream
	Beside  bool            // an Item that shows part of another message, which is delivered as well
	Interim bool            // a Response before the result: it requests input, or names work that goes on; Body is all of it
	Bare    bool            // an Invalid message of a server that is handled as an event: Method is its own name for it, and Body is all of it
	Awaited bool            // a Notification that the handshake waited for
	Method  string          // the name that a user knows, of the method, the binding, the callback or the type
	Params  json.RawMessage // the complete params of a Request, Notification or Item, or nil
	Body    json.RawMessage // the part that users see: a result, an item's payload, a notification's params
	Err     *Error          // the error of a Response or Item, or the problem of an Invalid message
	Raw     []byte          // the message as received or sent
	Event   *Event          // the form that users see, if another process of rpcx has sent it; else nil
}

// Clone returns m with all bytes copied into fresh memory.
func (m Message) Clone() Message {
	c, _ := m.CopyTo(make([]byte, 0, len(m.Raw)))
	return c
}

// CopyTo appends m.Raw to buf and returns m with its slices moved into the copy, and buf. Slices of m outside Raw are
// cloned.
func (m Message) CopyTo(buf []byte) (Message, []byte) {
	var c Message
	buf = c.CopyOf(&m, buf)
	return c, buf
}

// CopyOf is CopyTo, but stores the copy of m in c and returns only buf.
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
// end, so that the difference of the capacities is its offset.
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
