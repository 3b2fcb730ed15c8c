// Package match compares the messages on a tape with those of another conversation. It classifies messages, decides
// which differences count, and maps generated values (ids, tokens, streams, sessions) to those of the other
// conversation.
package match

import (
	"slices"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// A Parsed contains the kind of a message and its parts, as the shape of its dialect defines them. Its slices are parts
// of the message.
type Parsed struct {
	Kind   wire.Kind // Invalid if the message belongs to another dialect
	ID     wire.ID   // nil if there is none
	Method string    // "" for a response, in dialects whose responses do not contain the method
}

// Parse classifies msg, which must be valid JSON. client is set if the client sent msg.
func Parse(s *dialect.Shape, msg []byte, client bool) (p Parsed) {
	if s.Own != nil {
		m := s.Own.Read(msg)
		return Parsed{m.Kind, m.ID, m.Method}
	}
	m, ok := readMembers(s, msg)
	if !ok {
		return Parsed{}
	}
	name, named := scan.Text(m.method)
	p = Parsed{ID: m.id, Method: name}
	if s.Typed {
		p.Kind = m.typedKind(s, name, named, client)
	} else {
		p.Kind = m.kind(named)
	}
	switch {
	case p.Kind == wire.Invalid:
		return Parsed{}
	case p.Kind == wire.Notification && !s.Typed:
		p.ID = nil
	}
	return p
}

// classifying contains the members that determine the kind of a message. A member that is missing is nil.
type classifying struct {
	method, version, err []byte
	id                   wire.ID
	result               bool // whether the message has a result
}

// readMembers reads the members of an object. It returns false if msg is not an object.
func readMembers(s *dialect.Shape, msg []byte) (c classifying, ok bool) {
	m := scan.ReadObject(msg, wire.DefaultMaxDepth)
	for key, val, ok := m.Next(); ok; key, val, ok = m.Next() {
		switch string(key) {
		case s.Method:
			c.method = val
		case s.ID:
			c.id = wire.ID(val)
		case "result":
			c.result = true
		case "error":
			if string(val) != "null" {
				c.err = val
			}
		case "jsonrpc":
			c.version = val
		default:
			if s.Event != "" && string(key) == s.Event && c.method == nil {
				c.method = val
			}
		}
	}
	return c, m.Err() == nil
}

// kind returns the kind of a message. named is set if its method is a string.
func (c classifying) kind(named bool) wire.Kind {
	switch {
	case c.method != nil && !named:
		return wire.Invalid
	case named && (c.id == nil || string(c.id) == "null" && c.version == nil):
		return wire.Notification
	case named:
		return wire.Request
	case c.id != nil && (c.result || c.err != nil):
		return wire.Response
	}
	return wire.Invalid
}

// typedKind is like kind, but for dialects whose messages have a type. method is that type.
func (c classifying) typedKind(s *dialect.Shape, method string, named, client bool) wire.Kind {
	switch {
	case !named:
		return wire.Invalid
	case c.id == nil || string(c.id) == "null" || slices.Contains(s.Mute, method):
		return wire.Notification
	case client:
		return wire.Request
	}
	return wire.Response
}

// IDOf returns the id of a message, or nil if it has none.
func IDOf(s *dialect.Shape, msg []byte) wire.ID {
	if s.Own != nil {
		return s.Own.Read(msg).ID
	}
	return scan.Get(msg, s.ID)
}

// SetID returns msg with another id.
func SetID(s *dialect.Shape, msg []byte, id wire.ID) []byte {
	if s.Own != nil {
		return s.Own.SetID(msg, id)
	}
	return scan.Splice(msg, s.ID, id)
}

// IDs compares the ids of two messages. It returns no difference if the ids are equal or one of them is missing.
func IDs(s *dialect.Shape, want, got []byte) []Difference {
	mine, theirs := IDOf(s, want), IDOf(s, got)
	if mine == nil || theirs == nil {
		return nil
	}
	var all Rules // these rules ignore nothing
	return all.Compare("", want, SetID(s, want, theirs), &Values{})
}

// Elements returns the messages in a batch. Any other message is returned as the only element.
func Elements(s *dialect.Shape, msg []byte) (parts [][]byte, batch bool) {
	if s.Arrays || scan.Type(scan.Trim(msg)) != 'a' {
		return [][]byte{msg}, false
	}
	return slices.Collect(scan.Elements(msg)), true
}
