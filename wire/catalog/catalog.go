// Package catalog describes a peer's methods, with the schemas of their parameters and results, in one form for every
// dialect. It reads, writes and completes such descriptions, and makes examples from them.
package catalog

import (
	"encoding/json"

	"rpcx/wire/scan"
)

// A Kind is the form of a method's answer: a result, a stream or a job.
type Kind string

// These are the kinds of methods. The zero value means Call.
const (
	Call   Kind = "call"
	Stream Kind = "stream"
	Job    Kind = "job"
	Notify Kind = "notify"
)

// A Catalog describes a peer's methods.
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
	Right     bool                       `json:"-"` // its schemas are known to be valid, like those of a demo
}

// Info identifies the peer.
type Info struct {
	Name        string          `json:"name,omitempty"`
	Version     string          `json:"version,omitempty"`
	Description string          `json:"description,omitempty"`
	Extra       json.RawMessage `json:"extra,omitempty"`
}

// A Method is one entry of a catalog. Its name is the one on the wire.
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

// A StreamForm describes the items of a stream in plain JSON-RPC, for protocols whose clients expect a certain form.
type StreamForm struct {
	Method string `json:"method,omitempty"` // method of the item notifications; "" for the stream's name
	ID     string `json:"id,omitempty"`     // form of a subscription's id: hex ("0x…"), integer or string; "" for string
}

// StreamIDs are the forms of id that a StreamForm may name.
var StreamIDs = []string{"hex", "integer", "string"}

// Incomplete is the member of a catalog's Extra that lists missing parts: an object that maps names of methods without
// a description to the reasons.
const Incomplete = "incomplete"

// Partial is the member of a catalog's Extra with the reason, as a clause, why the peer may have other methods.
const Partial = "partial"

// SetPartial stores the reason why the peer may have methods that c does not list.
func (c *Catalog) SetPartial(why string) {
	text := scan.AppendQuoted(nil, why)
	if c.Extra == nil {
		c.Extra = scan.Pair(Partial, text)
		return
	}
	c.Extra = scan.Splice(c.Extra, Partial, text)
}

// WhyPartial returns the reason why the peer may have methods that c does not list, or "" if c lists all.
func (c *Catalog) WhyPartial() string { return scan.String(scan.Get(c.Extra, Partial)) }
