package program

import (
	"encoding/json"
	"os"
	"strconv"

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
	Serving bool // we are the server
	// Offers gives, where we are the server, the catalog that is offered, as JSON, and the
	// names of its methods; nil: it is not known yet.
	Offers func() (doc json.RawMessage, names []string)
}

// Value returns the value of a variable; nil for null.
func (s *Scope) Value(name string) json.RawMessage {
	switch name {
	case "method":
		if s.Method == "" {
			return nil
		}
		return scan.AppendQuoted(nil, s.Method)
	case "name":
		return scan.AppendQuoted(nil, s.Name)
	case "params":
		return s.Params
	case "id":
		return s.ID
	case "token":
		return s.Token
	case "code":
		return s.Code
	case "result":
		return s.Result
	case "error":
		return s.Error
	case "event":
		return s.Event
	case "request":
		return s.Request
	case "schema":
		return s.Schema
	case "catalog":
		if s.Catalog != nil {
			return s.Catalog
		}
	case "extra":
		return s.Extra
	case "cwd":
		dir, err := os.Getwd()
		if err != nil {
			return nil
		}
		return scan.AppendQuoted(nil, dir)
	case "pid":
		return strconv.AppendInt(nil, int64(os.Getpid()), 10)
	}
	return s.Whole().value(name)
}

// Whole returns the values that are the same for a whole connection; nil: there is none.
func (s *Scope) Whole() *Conn {
	if s.Conn == nil && s.Now != nil {
		return s.Now()
	}
	return s.Conn
}

func (c *Conn) value(name string) json.RawMessage {
	if c == nil {
		return nil
	}
	switch name {
	case "hooks":
		names := c.Hooks
		if c.Offers != nil {
			_, names = c.Offers()
		}
		hooks := scan.AppendArray(nil)
		for _, name := range names {
			hooks.Text(name)
		}
		return hooks.End()
	case "meta":
		return c.Meta
	case "kept":
		return c.Kept
	case "catalog":
		if c.Offers != nil {
			doc, _ := c.Offers()
			return doc
		}
	case "version":
		return scan.AppendQuoted(nil, c.Version)
	}
	return nil
}
