// Package match compares the messages of a tape with those of another
// conversation. It tells requests, responses and notifications apart, decides
// which differences count, and maps the values that one side made up, such as
// ids, tokens, streams and sessions, to those of the other conversation.
package match

import (
	"slices"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// A Parsed describes a message by the shape of its dialect: what it is, and its
// parts. Its slices are parts of the message.
type Parsed struct {
	Kind   wire.Kind // Request, Notification, Response, or Invalid: not a message of this dialect
	ID     wire.ID   // nil: none
	Method string    // ""; of a response in a dialect whose responses have none
	Error  []byte    // of a Response that is an error; else nil
}

// Parse classifies msg, a message that is valid JSON. client says that the
// client sent it.
func Parse(s *dialect.Shape, msg []byte, client bool) Parsed {
	var p Parsed
	if s.Own != nil {
		m := s.Own.Read(msg)
		if p.Kind, p.ID, p.Method = m.Kind, m.ID, m.Method; m.Err != nil {
			p.Error = m.Err.JSON()
		}
		return p
	}
	var method, version []byte
	result := false
	m := scan.ReadObject(msg, wire.DefaultMaxDepth)
	for key, val, ok := m.Next(); ok; key, val, ok = m.Next() {
		switch string(key) {
		case s.Method:
			method = val
		case s.ID:
			p.ID = wire.ID(val)
		case "result":
			result = true
		case "error":
			if string(val) != "null" {
				p.Error = val
			}
		case "jsonrpc":
			version = val
		}
	}
	if m.Err() != nil {
		return Parsed{}
	}
	name, named := scan.Text(method)
	p.Method = name
	if s.Typed {
		return p.typed(s, named, client)
	}
	null := string(p.ID) == "null"
	switch {
	case method != nil && !named:
		return Parsed{}
	case named && (p.ID == nil || null && version == nil):
		p.Kind, p.ID = wire.Notification, nil
	case named:
		p.Kind = wire.Request
	case p.ID != nil && (result || p.Error != nil):
		p.Kind = wire.Response
	default:
		return Parsed{}
	}
	return p
}

// IDOf returns the id of a message; nil if it has none.
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

// IDs returns the difference between the ids of two messages; nil if there is none, or if
// one of them has no id.
func IDs(s *dialect.Shape, want, got []byte) []Difference {
	mine, theirs := IDOf(s, want), IDOf(s, got)
	if mine == nil || theirs == nil {
		return nil
	}
	var all Rules // which leaves out nothing
	return all.Compare("", want, SetID(s, want, theirs), nil)
}

// typed is Parse for dialects whose messages have a type.
func (p Parsed) typed(s *dialect.Shape, named, client bool) Parsed {
	switch {
	case !named:
		return Parsed{}
	case p.ID == nil || string(p.ID) == "null" || slices.Contains(s.Mute, p.Method):
		p.Kind = wire.Notification
	case client:
		p.Kind = wire.Request
	default:
		p.Kind = wire.Response
	}
	return p
}

// Elements returns the messages in msg: the elements of a batch, else msg
// itself.
func Elements(s *dialect.Shape, msg []byte) (parts [][]byte, batch bool) {
	if s.Arrays || scan.Type(scan.Trim(msg)) != 'a' {
		return [][]byte{msg}, false
	}
	m := scan.ReadArray(msg, wire.DefaultMaxDepth)
	for _, part, ok := m.Next(); ok; _, part, ok = m.Next() {
		parts = append(parts, part)
	}
	return parts, true
}
