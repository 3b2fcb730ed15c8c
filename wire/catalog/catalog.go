// Package catalog describes a peer's methods, with the schemas of their parameters and results, in one form for every
// dialect. It reads, writes and completes such descriptions, and generates examples.
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

// A Kind describes the outcome of a method: a result, a stream, a job, or no response.
type Kind string

// Call is the default.
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
	Right     bool                       `json:"-"` // the schemas are known to be valid, for example in a demo
	Private   bool                       `json:"-"` // the catalog is a bridge's and may differ between users
}

// Info identifies the peer.
type Info struct {
	Name        string          `json:"name,omitempty"`
	Version     string          `json:"version,omitempty"`
	Description string          `json:"description,omitempty"`
	Extra       json.RawMessage `json:"extra,omitempty"`
}

// A Method is one entry of a catalog, under its name on the wire.
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
	Run         string                     `json:"run,omitempty"` // an ANSWER; used only in demos and in files given with --hooks
	Extra       json.RawMessage            `json:"extra,omitempty"`
}

// A StreamForm describes the items of a stream in JSON-RPC, for protocols whose clients expect a certain form.
type StreamForm struct {
	Method string `json:"method,omitempty"` // the method of item notifications, or "" for the stream's own method
	ID     string `json:"id,omitempty"`     // the form of a subscription's id: hex ("0x…"), integer, or string (the default)
}

// StreamIDs are the forms of ids in a StreamForm.
var StreamIDs = []string{"hex", "integer", "string"}

// Incomplete is the member of a catalog's Extra that lists missing descriptions: an object with the reason for each
// method.
const Incomplete = "incomplete"

// Partial is the member of a catalog's Extra that gives the reason, as a clause, why the peer may have other methods.
const Partial = "partial"

// cache is the member of a catalog's Extra that stores a Keep.
const cache = "cache"

// A Keep is a peer's permission to store its catalog.
type Keep struct {
	Age     *time.Duration // the maximum age, or nil if the peer does not state one
	Private bool           // the copy is only for this user
}

// Until returns when a copy made now expires: after a year if the peer states no age.
func (k Keep) Until() time.Time {
	if k.Age == nil {
		return time.Now().AddDate(1, 0, 0)
	}
	return time.Now().Add(*k.Age)
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

// Keep returns the peer's permission to store c.
func (c *Catalog) Keep() (k Keep) {
	control := scan.Get(c.Extra, cache)
	if seconds, err := strconv.ParseFloat(string(scan.Get(control, "max-age")), 64); err == nil {
		age := time.Duration(seconds * float64(time.Second))
		k.Age = &age
	}
	k.Private = string(scan.Get(control, "private")) == "true"
	return k
}

// SetPartial stores why the peer may have methods that are not in c.
func (c *Catalog) SetPartial(why string) {
	c.setExtra(Partial, scan.AppendQuoted(nil, why))
}

func (c *Catalog) setExtra(name string, val json.RawMessage) {
	c.Extra = scan.Splice(scan.Or(c.Extra, []byte("{}")), name, val)
}

// WhyPartial returns why the peer may have methods that are not in c, or "" if c is complete.
func (c *Catalog) WhyPartial() string { return scan.String(scan.Get(c.Extra, Partial)) }

// Received makes a peer's catalog safe to use. It removes commands, and ensures that rpcx can read the catalog again
// after writing it. Its parameters are the results of a function that reads a catalog.
func Received(c *Catalog, err error) (*Catalog, error) {
	if err != nil {
		return nil, err
	}
	Normalize(c)
	StripRun(c)
	return c, nil
}

// Join adds to c the methods of more that are missing in c, and the definitions that their schemas use. A different
// definition with the same name is an error, because it would change the meaning of schemas.
func (c *Catalog) Join(more *Catalog) error {
	for _, name := range slices.Sorted(maps.Keys(more.Defs)) {
		def := more.Defs[name]
		if have := c.Defs[name]; have != nil && !scan.Equal(have, def) {
			return fmt.Errorf("#/$defs/%s differs from the definition in an earlier file; rename one of them", name)
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

// Keys returns the names of obj's members in order, or nil if obj is not an object.
func Keys(obj json.RawMessage) []string {
	var keys []string
	for name := range scan.Named(obj) {
		keys = append(keys, name)
	}
	return keys
}

// Conventions describe how a dialect's catalogs differ from the usual form. They are part of a dialect's Spec. The zero
// value means no difference.
type Conventions struct {
	CallsStream      bool // every method streams; examples use `call`, not `subscribe`
	WrappedParams    bool // the params may also be the only element of an array
	RunnableExamples bool // examples have a value for each required parameter, and run unchanged
	// Resource splits a method's name into RESOURCE and VERB for the table of methods. nil leaves names whole.
	Resource func(m *Method) (resource, verb string)
	// Typed returns the method as a user types it. By default, this is the method's name.
	Typed func(m *Method) string
}
