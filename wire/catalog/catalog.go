// Package catalog describes what a peer offers, in one shape for every dialect:
// methods with the schemas of what they take and return. It reads, writes and
// completes such descriptions, and makes examples from them.
package catalog

import (
	"encoding/json"

	"rpcx/wire/scan"
)

// A Kind says how a method answers.
type Kind string

// The kinds of method. The zero value means Call.
const (
	Call   Kind = "call"
	Stream Kind = "stream"
	Job    Kind = "job"
	Notify Kind = "notify"
)

// A Catalog describes what a peer offers.
type Catalog struct {
	Schema    string                     `json:"$schema,omitempty"` // for editors
	Catalog   int                        `json:"catalog"`           // always 1
	Dialect   string                     `json:"dialect,omitempty"`
	Info      Info                       `json:"info"`
	Methods   []Method                   `json:"methods"`
	Classes   []json.RawMessage          `json:"classes,omitempty"`
	Constants json.RawMessage            `json:"constants,omitempty"`
	Defs      map[string]json.RawMessage `json:"$defs,omitempty"`
	Extra     json.RawMessage            `json:"extra,omitempty"`
	Right     bool                       `json:"-"` // its schemas are known to be valid, as those of a demo are
}

// Info names the peer.
type Info struct {
	Name        string          `json:"name,omitempty"`
	Version     string          `json:"version,omitempty"`
	Description string          `json:"description,omitempty"`
	Extra       json.RawMessage `json:"extra,omitempty"`
}

// A Method is one entry. Its name is the wire's.
type Method struct {
	Name        string                     `json:"name"`
	Kind        Kind                       `json:"kind,omitempty"`
	Description string                     `json:"description,omitempty"`
	Params      json.RawMessage            `json:"params,omitempty"` // JSON Schema
	Result      json.RawMessage            `json:"result,omitempty"` // JSON Schema
	Events      map[string]json.RawMessage `json:"events,omitempty"` // content type → JSON Schema
	Effects     []string                   `json:"effects,omitempty"`
	Hints       json.RawMessage            `json:"hints,omitempty"`
	Cache       json.RawMessage            `json:"cache,omitempty"`
	Stream      *StreamForm                `json:"stream,omitempty"`
	Run         string                     `json:"run,omitempty"` // an ANSWER; obeyed only in a file given with --hooks and in the demos
	Extra       json.RawMessage            `json:"extra,omitempty"`
}

// A StreamForm says how the items of a stream look in plain JSON-RPC, where the
// clients of some protocol expect it so.
type StreamForm struct {
	Method string `json:"method,omitempty"` // of the notifications that are items; "": the stream's own name
	ID     string `json:"id,omitempty"`     // what a subscription's id is: hex ("0x…"), integer or string; "": string
}

// StreamIDs are the kinds of id that a StreamForm may name.
var StreamIDs = []string{"hex", "integer", "string"}

// Incomplete is the member of a catalog's Extra that says what of it is missing:
// an object of the names of methods that could not be described, and why.
const Incomplete = "incomplete"

// Partial is the member of a catalog's Extra that says, as a clause, why the peer may have methods that are not listed.
const Partial = "partial"

// SetPartial stores why the peer may have methods that c does not list.
func (c *Catalog) SetPartial(why string) {
	c.Extra = scan.Splice(c.Extra, Partial, scan.AppendQuoted(nil, why))
}

// WhyPartial returns why the peer may have methods that c does not list; "" if c lists all.
func (c *Catalog) WhyPartial() string { return scan.String(scan.Get(c.Extra, Partial)) }
