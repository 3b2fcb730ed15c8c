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
	Conn                                          *Conn // of the whole connection; may be nil
}

// A Conn holds the values that are the same for a whole connection.
type Conn struct {
	Hooks   []string // the exact names of the hooks that answer
	Kept    json.RawMessage
	Version string
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
		return s.Catalog
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
	return s.Conn.value(name)
}

func (c *Conn) value(name string) json.RawMessage {
	if c == nil {
		return nil
	}
	switch name {
	case "hooks":
		hooks := scan.AppendArray(nil)
		for _, name := range c.Hooks {
			hooks.Text(name)
		}
		return hooks.End()
	case "kept":
		return c.Kept
	case "version":
		return scan.AppendQuoted(nil, c.Version)
	}
	return nil
}
