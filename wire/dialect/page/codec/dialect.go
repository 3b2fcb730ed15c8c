// Package codec is the codec of a page: its messages, and on top of them what the page
// says of greetings, wrapped calls, streams, what is notified while a call runs, cancels,
// and how the peer is asked what it offers.
package codec

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/dialect/page/envelope"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// A Dialect is a page that is ready to be spoken, on any number of connections.
type Dialect struct {
	Page *load.Page

	plan    *envelope.Plan          // nil: the messages are those of the base
	target  func() (pointer string) // where the params of a cancel have the id; "": nowhere
	streams []string                // the methods of [subscribe.METHOD], the exact ones first
	tracks  bool                    // what is notified may belong to a call
	awaits  bool                    // the greeting awaits messages
	guards  bool                    // a server waits for a first call
	plain   struct {
		sync.Mutex
		known map[string]bool // what call.plain said of methods
	}
}

// New returns the dialect of a page. The error is a usage Fault.
func New(p *load.Page) (*Dialect, error) {
	d := &Dialect{Page: p}
	if !envelope.Plain(p) {
		plan, err := envelope.Compile(p)
		if err != nil {
			return nil, err
		}
		d.plan = plan
	}
	for name := range p.Subscribe {
		d.streams = append(d.streams, name)
	}
	slices.SortFunc(d.streams, func(a, b string) int {
		if stars := strings.Count(a, "*") - strings.Count(b, "*"); stars != 0 {
			return stars
		}
		return strings.Compare(a, b)
	})
	d.tracks = p.Call != nil || p.Eval != nil || p.During != load.During{} || p.Cancel != nil || len(p.Subscribe) > 0
	d.guards = p.Serve.First != ""
	d.awaits = slices.ContainsFunc(p.Greet, func(s load.Step) bool { return s.Await != nil })
	d.target = sync.OnceValue(func() string { return cancelTarget(p.Cancel) })
	d.plain.known = map[string]bool{}
	return d, nil
}

// messages returns the codec of the messages alone.
func (d *Dialect) messages(o dialect.CodecOptions) dialect.Codec {
	if d.plan != nil {
		return envelope.New(d.plan, envelope.Options{MaxDepth: o.MaxDepth})
	}
	v := jsonrpc.V2
	if d.Page.Base == "jsonrpc1" {
		v = jsonrpc.V1
	}
	return jsonrpc.NewCodec(jsonrpc.Options{Version: v, MaxDepth: o.MaxDepth})
}

// Subscription returns the rule of the stream of a method, and the name that it has in
// the page; nil where there is none.
func (d *Dialect) Subscription(method string) (name string, rule *load.Subscribe) {
	for _, name := range d.streams {
		if dialect.Matches(name, method) {
			s := d.Page.Subscribe[name]
			return name, &s
		}
	}
	return "", nil
}

// Notifies reports whether method is what is notified while a call runs, so that it
// needs no hook.
func (d *Dialect) Notifies(method string) bool {
	w := &d.Page.During
	for _, rule := range []*load.Item{w.Progress, w.Log, w.Items} {
		if rule != nil && dialect.Matches(rule.Method, method) {
			return true
		}
	}
	return false
}

// cancelTarget finds, in the params that a cancel is written with, where the id stands,
// as a JSON pointer: what is read there, of a cancel that came, is what it ends.
func cancelTarget(c *load.Cancel) string {
	if c == nil || c.Notify == "" || c.Params == nil {
		return ""
	}
	mark := json.RawMessage(`"\u0000"`)
	scope := &program.Scope{ID: mark}
	params, err := c.Params.First(nil, scope.Value)
	if err != nil {
		return ""
	}
	for name, val := range scan.Named(params) {
		if scan.Equal(val, mark) {
			return name
		}
	}
	return ""
}

// isPlain reports whether the calls of a method are not wrapped.
func (d *Dialect) isPlain(method string) (bool, error) {
	d.plain.Lock()
	defer d.plain.Unlock()
	if plain, ok := d.plain.known[method]; ok {
		return plain, nil
	}
	if d.Page.Call.Plain == nil {
		return false, nil
	}
	plain, err := d.Page.Call.Plain.Holds(scan.AppendQuoted(nil, method), (&program.Scope{Method: method}).Value)
	if err != nil {
		return false, err
	}
	const most = 1024
	if len(d.plain.known) >= most {
		clear(d.plain.known)
	}
	d.plain.known[method] = plain
	return plain, nil
}

// Plain reports whether a method is one of the wire: its calls are not wrapped.
func (d *Dialect) Plain(method string) bool {
	if d.Page.Call == nil {
		return true
	}
	plain, err := d.isPlain(method)
	return plain || err != nil
}

// protocolFault is what the peer did against what the page says.
func protocolFault(method, what string) *wire.Fault {
	f := wire.NewFault(wire.Protocol, what, nil)
	f.Method = method
	return f
}
