// Package catalog describes a peer's methods, with the schemas of their parameters and results, in one form for every
// dialect. It reads, writes and completes such descriptions, and makes examples from them.
package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"rpcx/wire"
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
	Private   bool                       `json:"-"` // a bridge's: the peer may list other methods for another user
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

// cache is the member of a catalog's Extra with a Keep.
const cache = "cache"

// A Keep is what a peer says of storing its catalog.
type Keep struct {
	Age     *time.Duration // how long; nil: the peer does not say
	Private bool           // only for this user
}

// SetKeep adds k to the Extra of c, unless it is zero.
func (c *Catalog) SetKeep(k Keep) {
	var o scan.Object
	if k.Age != nil {
		o.Add("max-age", strconv.AppendFloat(nil, k.Age.Seconds(), 'f', -1, 64))
	}
	if k.Private {
		o.Add("private", []byte("true"))
	}
	if !o.Empty() {
		c.setExtra(cache, o.End())
	}
}

// Keep returns what the peer says of storing c.
func (c *Catalog) Keep() (k Keep) {
	said := scan.Get(c.Extra, cache)
	if seconds, err := strconv.ParseFloat(string(scan.Get(said, "max-age")), 64); err == nil {
		age := time.Duration(seconds * float64(time.Second))
		k.Age = &age
	}
	k.Private = string(scan.Get(said, "private")) == "true"
	return k
}

// SetPartial stores the reason why the peer may have methods that c does not list.
func (c *Catalog) SetPartial(why string) {
	c.setExtra(Partial, scan.AppendQuoted(nil, why))
}

func (c *Catalog) setExtra(name string, val json.RawMessage) {
	if c.Extra == nil {
		c.Extra = scan.Pair(name, val)
		return
	}
	c.Extra = scan.Splice(c.Extra, name, val)
}

// WhyPartial returns the reason why the peer may have methods that c does not list, or "" if c lists all.
func (c *Catalog) WhyPartial() string { return scan.String(scan.Get(c.Extra, Partial)) }

// Received makes a catalog from a peer safe to use. It removes commands, and ensures that the catalog can be read again
// after writing. It accepts and returns the results of its caller.
func Received(c *Catalog, err error) (*Catalog, error) {
	if err != nil {
		return nil, err
	}
	Normalize(c)
	StripRun(c)
	return c, nil
}

// Join adds to c the methods of more that it lacks, and the definitions to which their schemas refer. A different
// definition with the same name is an error, because it would change the meaning of schemas.
func (c *Catalog) Join(more *Catalog) error {
	for _, name := range slices.Sorted(maps.Keys(more.Defs)) {
		def := more.Defs[name]
		if have := c.Defs[name]; have != nil && !scan.Equal(have, def) {
			return fmt.Errorf("#/$defs/%s differs from the definition in an earlier file; rename one", name)
		}
		wire.Put(&c.Defs, name, def)
	}
	for _, m := range more.Methods {
		if c.Method(m.Name) == nil {
			c.Methods = append(c.Methods, m)
		}
	}
	c.Private = c.Private || more.Private
	return nil
}

// A member is one member of an object, unchanged.
type member struct {
	key   string
	value json.RawMessage
}

// members returns the members of an object in order. ok is false if raw is not an object.
func members(raw json.RawMessage) (list []member, ok bool) {
	if !json.Valid(raw) || scan.Type(scan.Trim(raw)) != 'o' {
		return nil, false
	}
	for name, value := range scan.Named(raw) {
		list = append(list, member{name, value})
	}
	return list, true
}

// object returns an object with these members.
func object(list []member) json.RawMessage {
	var o scan.Object
	for _, m := range list {
		o.Add(m.key, m.value)
	}
	return o.End()
}

// Keys returns the names of an object's members in order, or nil if obj is not an object.
func Keys(obj json.RawMessage) []string {
	var keys []string
	for name := range scan.Named(obj) {
		keys = append(keys, name)
	}
	return keys
}

// Conventions describes how a dialect's catalogs differ from the usual ones. It is part of a dialect's Spec. The zero
// value stands for the usual meaning.
type Conventions struct {
	CallsStream      bool // every method streams, so that examples use `call`, not `subscribe`
	WrappedParams    bool // params may also be sent as the only element of an array
	RunnableExamples bool // examples have a value for each required parameter, so that they run unchanged
	// Resource splits a method's name in two, which the table of methods shows as RESOURCE and VERB. If it is nil,
	// names are shown whole.
	Resource func(m *Method) (resource, verb string)
	// Typed returns the method as a user types it. If it is nil, that is the method's name.
	Typed func(m *Method) string
}
