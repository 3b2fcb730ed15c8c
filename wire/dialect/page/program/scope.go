package program

import (
	"encoding/json"
	"os"
	"sync"

	"rpcx/wire/scan"
)

// A Scope contains the values of the variables for one run of a program. A nil value is null to the program. Variables
// describes each.
type Scope struct {
	Method, Name                                  string
	Params, ID, Token, Code                       json.RawMessage
	Result, Error, Event, Request, Catalog, Extra json.RawMessage
	Schema                                        json.RawMessage
	Conn                                          *Conn        // the values of the connection; may be nil
	Now                                           func() *Conn // returns the value for a nil Conn once it is needed; may be nil
}

// A Conn contains the variables of a connection.
type Conn struct {
	Hooks   []string // the exact names of hooks
	Kept    json.RawMessage
	Meta    json.RawMessage // the values that the user set for the handshake
	Version string
	Path    string // the path of the endpoint's URL, without its query
	HTTP    bool   // each message is an HTTP request
	Logs    string // the lowest level of the log lines that the user sees, or ""
	Serving bool   // the local side is the server
	// Offers returns, on a server, the catalog as JSON and the names of its methods. It is nil if these are not known.
	Offers func() (doc json.RawMessage, names []string)
}

// Value returns the value of a variable, or nil for null.
func (s *Scope) Value(name string) json.RawMessage {
	if value := values()[name]; value != nil {
		return value(s)
	}
	return nil
}

// values maps each variable to a function that returns its value.
var values = sync.OnceValue(func() map[string]func(*Scope) json.RawMessage {
	all := map[string]func(*Scope) json.RawMessage{}
	for _, v := range Variables() {
		all[v.Name] = v.value
	}
	return all
})

// Whole returns the variables of the connection, or nil.
func (s *Scope) Whole() *Conn {
	if s.Conn == nil && s.Now != nil {
		return s.Now()
	}
	return s.Conn
}

// ofConn returns a function that returns a variable of the connection.
func ofConn(value func(*Conn) json.RawMessage) func(*Scope) json.RawMessage {
	return func(s *Scope) json.RawMessage {
		if c := s.Whole(); c != nil {
			return value(c)
		}
		return nil
	}
}

// text returns a string as JSON, or nil for "".
func text(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return scan.AppendQuoted(nil, s)
}

func (c *Conn) hooks() json.RawMessage {
	names := c.Hooks
	if c.Offers != nil {
		_, names = c.Offers()
	}
	hooks := scan.AppendArray(nil)
	for _, name := range names {
		hooks.Text(name)
	}
	return hooks.End()
}

func (s *Scope) catalog() json.RawMessage {
	if c := s.Whole(); s.Catalog == nil && c != nil && c.Offers != nil {
		doc, _ := c.Offers()
		return doc
	}
	return s.Catalog
}

// directory returns the current directory, or nil.
func directory(*Scope) json.RawMessage {
	dir, _ := os.Getwd()
	return text(dir)
}
