package wire

import (
	"bytes"
	"encoding/json"
)

// An ID is a JSON token as on the wire: `1`, `"1"` and `1.0` are three different ids. nil means none.
type ID []byte

// Clone returns a copy with its own memory.
func (id ID) Clone() ID { return bytes.Clone(id) }

// String returns the token.
func (id ID) String() string { return string(id) }

// A Kind classifies messages the same way in every dialect.
type Kind uint8

// The kinds of message.
const (
	Invalid      Kind = iota // malformed, but the connection can go on; Err is what to answer with
	Request                  // in either direction
	Notification             // a request that wants no answer
	Response                 // answers the request with the same ID
	Item                     // one piece of a stream, see Stream
	Cancel                   // asks to end the request or stream named in Target
	Handshake                // a message of the handshake
)

var kindNames = [...]string{"invalid", "request", "notification", "response", "item", "cancel", "greeting"}

// String returns the kind in lower case.
func (k Kind) String() string { return kindNames[k] }

// A Message is one whole message in any dialect. Its byte slices are plain
// sub-slices of Raw (never re-capped) until it is cloned, so they are valid as
// long as Raw is.
type Message struct {
	Kind    Kind
	ID      ID              // of a request or response, or nil
	Stream  ID              // the stream that an Item belongs to, or that a Response opens
	Target  ID              // what a Cancel ends; of an Item with Beside set, the call that it belongs to, if it arrived in that call's exchange
	Final   bool            // no more answers to this call, or items of this stream
	Beside  bool            // an Item that shows part of another message, which is delivered as well
	Bare    bool            // an Invalid message of a server that is treated as an event: Method is its own name for it, Body all of it
	Awaited bool            // a Notification that the handshake waited for
	Method  string          // the name that a user knows: the method, the binding, the callback, the type
	Params  json.RawMessage // params of a Request, Notification or Item, whole, or nil
	Body    json.RawMessage // what users see: a result, an item's payload, a notification's params
	Err     *Error          // the error of a Response or Item, or what is wrong with an Invalid
	Raw     []byte          // the message as it came or goes
	Event   *Event          // what users see of it, if another process of rpcx has sent that; else nil
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

// CopyOf is CopyTo that stores the copy of m in c, and returns buf.
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

// moved returns the slice of dst that corresponds to part, a slice of src. Since a plain sub-slice
// keeps the capacity to the end, the difference of the capacities is its offset.
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
