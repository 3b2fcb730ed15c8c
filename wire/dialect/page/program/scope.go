package program

import (
	"encoding/json"
	"os"
	"sync"

	"rpcx/wire/scan"
)

// A Scope holds the values of the variables for one run; those that are nil are
// null in the program. Variables says what each of them holds.
type Scope struct {
	Method, Name                                  string
	Params, ID, Token, Code                       json.RawMessage
	Result, Error, Event, Request, Catalog, Extra json.RawMessage
	Schema                                        json.RawMessage
	Conn                                          *Conn        // of the whole connection; may be nil
	Now                                           func() *Conn // gives it, where Conn is nil and it is needed; may be nil
}

// A Conn holds the values that are the same for a whole connection.
type Conn struct {
	Hooks   []string // the exact names of the hooks that answer
	Kept    json.RawMessage
	Meta    json.RawMessage // what the user has given for the greeting
	Version string
	HTTP    bool   // each message is an HTTP request
	Logs    string // the lowest level of log lines that someone reads; "" means nobody does
	Serving bool   // we are the server
	// Offers gives, where we are the server, the catalog that is offered, as JSON, and the names of its methods; nil
	// means it is not known yet.
	Offers func() (doc json.RawMessage, names []string)
}

// Value returns the value of a variable, or nil for null.
func (s *Scope) Value(name string) json.RawMessage {
	if value := values()[name]; value != nil {
		return value(s)
	}
	return nil
}

// values has what finds the value of each variable.
var values = sync.OnceValue(func() map[string]func(*Scope) json.RawMessage {
	all := map[string]func(*Scope) json.RawMessage{}
	for _, v := range Variables() {
		all[v.Name] = v.value
	}
	return all
})

// Whole returns the values that are the same for a whole connection, or nil if there is none.
func (s *Scope) Whole() *Conn {
	if s.Conn == nil && s.Now != nil {
		return s.Now()
	}
	return s.Conn
}

// ofConn returns a function with the value of a variable of the connection, or nil if there is none.
func ofConn(value func(*Conn) json.RawMessage) func(*Scope) json.RawMessage {
	return func(s *Scope) json.RawMessage {
		if c := s.Whole(); c != nil {
			return value(c)
		}
		return nil
	}
}

// text returns a string as JSON, or nil if it is empty.
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

// directory returns the current directory, or nil if it is not known.
func directory(*Scope) json.RawMessage {
	dir, _ := os.Getwd()
	return text(dir)
}
