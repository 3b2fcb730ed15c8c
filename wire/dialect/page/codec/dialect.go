// Package codec implements the codec of a dialect file. Package envelope reads and writes the messages; this package adds
// handshakes, wrapped calls, streams, events during a call, cancels and discovery.
package codec

import (
	"cmp"
	"encoding/json"
	"iter"
	"maps"
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

// A Dialect is a compiled dialect file. It is shared by its codecs, one per connection.
type Dialect struct {
	Page *load.Page

	native  Native
	plan    *envelope.Plan         // nil if messages have the form of the base
	target  func() (string, error) // returns the place of the request's id in a cancel (see placeOf)
	token   func() (string, error) // returns the place of the token in a server's progress
	streams []string               // the methods of [subscribe.METHOD], exact names first
	tracks  bool                   // calls are stored, or differ from the base
	awaits  bool                   // the handshake awaits messages
	guards  bool                   // a server requires a certain method as the first call
	last    string                 // the client's last request; after it, only notifications of [[leave]] follow
	kept    []string               // the patterns of [keep.PATTERN], fewest stars first
	served  []string               // those of [serve.keep.PATTERN]
	plain   struct {
		sync.Mutex
		known map[string]bool // the results of call.plain, by method
	}
}

// New returns the Dialect for a dialect file and its native part, or a usage Fault. The zero Native means that there is
// none.
func New(p *load.Page, native Native) (*Dialect, error) {
	d := &Dialect{Page: p, native: native}
	if !envelope.Plain(p) {
		plan, err := envelope.Compile(p)
		if err != nil {
			return nil, err
		}
		d.plan = plan
	}
	d.streams = byStars(maps.Keys(p.Subscribe))
	d.tracks = p.Call != nil || p.Eval != nil || p.During != load.During{} || p.Cancel != nil || p.Input != nil || p.Requests.Params != nil ||
		len(p.Subscribe) > 0 || len(p.Keep) > 0
	d.guards = p.Serve.First != ""
	for i, step := range p.Leave {
		if step.Notify != "" && i > 0 && d.guards {
			d.last = p.Leave[i-1].Call
		}
	}
	d.kept, d.served = byStars(maps.Keys(p.Keep)), byStars(maps.Keys(p.Serve.Keep))
	d.awaits = slices.ContainsFunc(p.Handshake, func(s load.Step) bool { return s.Await != nil })
	d.plain.known = map[string]bool{}
	d.target = sync.OnceValues(func() (string, error) {
		return placeOf(cmp.Or(p.Cancel, &load.Cancel{}).Params, program.Scope{ID: json.RawMessage(mark)})
	})
	d.token = sync.OnceValues(func() (string, error) {
		return placeOf(cmp.Or(p.Serve.During.Progress, &load.Say{}).Params, program.Scope{Token: json.RawMessage(mark), Event: json.RawMessage(`{"event":"progress","message":"","progress":0}`)})
	})
	return d, nil
}

// byStars sorts patterns in the order in which they are matched: fewest stars first.
func byStars(patterns iter.Seq[string]) []string {
	return slices.SortedFunc(patterns, func(a, b string) int {
		return cmp.Or(strings.Count(a, "*")-strings.Count(b, "*"), strings.Compare(a, b))
	})
}

// Plan returns the form of the dialect file's messages. It returns nil if they have the form of the base.
func (d *Dialect) Plan() *envelope.Plan { return d.plan }

// messages returns a codec for messages only, without the dialect file's flows. now returns the connection's variables.
func (d *Dialect) messages(o dialect.CodecOptions, now func() *program.Conn) dialect.Codec {
	if d.plan != nil {
		return envelope.New(d.plan, envelope.Options{MaxDepth: o.MaxDepth, Serving: o.Serving, Conn: now})
	}
	v := jsonrpc.V2
	if d.Page.Base == "jsonrpc1" {
		v = jsonrpc.V1
	}
	return jsonrpc.NewCodec(jsonrpc.Options{Version: v, MaxDepth: o.MaxDepth})
}

// CancelFails returns the error of the program for a cancel, or nil. If the program fails, a server cannot find the id of
// the request in a cancel.
func (d *Dialect) CancelFails() error {
	_, err := d.target()
	return err
}

// MessageScope adds the variables of a message from the peer to sc and returns sc.
func (d *Dialect) MessageScope(sc *program.Scope, m *wire.Message) *program.Scope {
	sc.Method, sc.Params, sc.ID, sc.Request = m.Method, m.Params, json.RawMessage(m.ID), m.Raw
	sc.Extra = d.plan.Extra(m.Raw, sc)
	return sc
}

// Subscription returns the rule for a method's stream, with the method or pattern that the rule is for. It returns nil if the
// method does not open a stream.
func (d *Dialect) Subscription(method string) (name string, rule *load.Subscribe) {
	name, ok := matching(d.streams, method)
	if !ok {
		return "", nil
	}
	s := d.Page.Subscribe[name]
	return name, &s
}

// matching returns the first pattern that matches a method.
func matching(patterns []string, method string) (pattern string, ok bool) {
	for _, pattern := range patterns {
		if dialect.Matches(pattern, method) {
			return pattern, true
		}
	}
	return "", false
}

// Notifies reports whether the dialect file uses notifications of that method during a call. They need no hook.
func (d *Dialect) Notifies(method string) bool {
	w := &d.Page.During
	for _, rule := range []*load.Item{w.Progress, w.Log, w.Items} {
		if rule != nil && dialect.Matches(rule.Method, method) {
			return true
		}
	}
	return method != "" && method == d.native.Notification
}

// isPlain reports whether calls of a method are never wrapped.
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

// Plain reports whether calls of a method are never wrapped. It also returns true if the program that decides this
// fails.
func (d *Dialect) Plain(method string) bool {
	if d.Page.Call == nil {
		return true
	}
	plain, err := d.isPlain(method)
	return plain || err != nil
}

// protocolFault returns a Fault of kind Protocol about a peer whose message does not conform to the dialect file.
func protocolFault(method, what string) *wire.Fault {
	return wire.NewFault(wire.Protocol, what, nil).WithMethod(method)
}

// Bridging describes how a bridge offers methods of other dialects in this dialect.
func (d *Dialect) Bridging() dialect.Bridging {
	rule := &d.Page.Bridge
	b := dialect.Bridging{Objects: rule.Objects, NoStreams: rule.Whole, Client: dialect.ClientHandshake{Asks: rule.Asks, Begins: d.Page.Serve.First != "", Declares: d.Page.Serve.Can != nil}, ReportsProgress: d.Notifies, Streams: d.opens, Gathers: d.gathers}
	if d.Page.Serve.During.Progress != nil {
		b.Progress = dialect.AlwaysProgress
	}
	if d.plan != nil {
		b.Errors.Members = d.plan.ErrorMembers
	}
	for _, step := range d.Page.Handshake {
		if name := step.Call + step.Notify; name != "" { // the step sends a message and does not await one
			b.Own = append(b.Own, name)
		}
	}
	if d.Page.Call != nil {
		b.Same = d.wrapped
	}
	if d.Page.Cancel != nil {
		b.Cancels = dialect.Always
	}
	if rule.Name != nil {
		b.Name = func(method string) string {
			name, err := rule.Name.First(scan.AppendQuoted(nil, method), (&program.Scope{}).Value)
			if text, ok := scan.Text(name); ok && err == nil && text != "" {
				return text
			}
			return method
		}
	}
	return b
}

// wrapped returns the call that wraps a call of method. The bridge does not unwrap the result.
func (d *Dialect) wrapped(method string, params json.RawMessage) (carrier string, same json.RawMessage) {
	if plain, err := d.isPlain(method); plain || err != nil {
		return method, params
	}
	sc := &program.Scope{Method: method, Params: params}
	name, err := d.Page.Call.Method.First(params, sc.Value)
	same, perr := d.Page.Call.Params.First(params, sc.Value)
	if err != nil || perr != nil {
		return method, params
	}
	return scan.String(name), same
}

// opens reports whether a method opens a stream, and whether that stream may never end because the dialect file does
// not define its end.
func (d *Dialect) opens(method string) (streams, endless bool) {
	_, rule := d.Subscription(method)
	if rule == nil {
		return false, false
	}
	ends := slices.ContainsFunc(d.Page.Read, func(r load.Read) bool { return r.Kind == "item" && r.Final != nil })
	return true, rule.Until == nil && !ends
}

// gathers reports whether a server sends the items of a method's stream as one array, because the dialect file defines no
// items for it.
func (d *Dialect) gathers(method string) bool {
	_, rule := d.Subscription(method)
	names := d.Page.Names
	return rule == nil && d.Page.Write.Event == nil && (names == nil || names.Response.More == "")
}
