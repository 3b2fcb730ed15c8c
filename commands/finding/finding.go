// Package finding finds out the dialect and the framing of a peer of which only
// the address is known, and its catalog if that takes no more.
package finding

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// probeTimeout is how long the answer to one probe is awaited.
const probeTimeout = time.Second

// A probe is a cheap question that servers are known to answer. It ends nothing.
type probe struct {
	dialect.Probe
	dialect string                                        // the dialect of peers that answer it; "": any JSON-RPC
	reads   func(result json.RawMessage) *catalog.Catalog // the catalog in the answer; nil: the peer has to be asked in its dialect
}

// probes returns the probes in the order in which they are made, on one
// connection; sessions are those that begin a session with peers that know them.
func probes(sessions bool) []probe {
	var list, lists, begin []probe
	for _, s := range all.Detected() {
		switch p := s.Detection.Probe; {
		case p == nil:
		case p.Session:
			begin = append(begin, probe{Probe: *p, dialect: s.Name})
		case p.Lists:
			lists = append(lists, probe{Probe: *p, dialect: s.Name, reads: named})
		default:
			list = append(list, probe{Probe: *p, dialect: s.Name})
		}
	}
	for _, l := range listings {
		list = append(list, probe{Probe: dialect.Probe{Method: l.method}, reads: l.reads})
	}
	list = append(list, lists...)
	if sessions {
		list = append(list, begin...)
	}
	return list
}

// listings are the methods by which servers in no dialect of their own describe themselves.
var listings = []struct {
	method string
	reads  func(result json.RawMessage) *catalog.Catalog
}{{"system.listMethods", named}, {"rpc_modules", modules}, {"system.describe", procedures}, {"listMethods", named}}

// Applies reports whether the dialect of e, which the user gave as typed, has
// to be found out: none is named, and the peer can be asked more than once.
func Applies(e endpoint.Endpoint, typed, dialectFlag string) bool {
	return dialectFlag == "" && e.Dialect == all.Default() && e.Demo == "" && e.Tape == "" && e.Socket == "" && e.Reversed == "" &&
		e.Profile == nil && e.Address.Scheme != "stdio" && !endpoint.NamesDialect(typed)
}

// A Finding is the outcome of finding out a dialect.
type Finding struct {
	Endpoint endpoint.Endpoint  // with the dialect and the framing that the peer speaks
	At       *endpoint.Endpoint // where that is known to be, this time; nil: it has to be found
	Starts   int                // how many connections were made to find out
	Catalog  *catalog.Catalog   // from the answer to a probe; nil: the peer has to be asked for it
}

// Look probes the peer of e until its dialect is known; nil if it is not found
// out. failed is the error with which the peer failed to describe itself.
// sessions allows probes that begin a session.
func Look(ctx context.Context, run *env.Env, e endpoint.Endpoint, c *options.Client, sessions bool, failed error) *Finding {
	f := wire.AsFault(failed)
	if f == nil {
		return nil
	}
	if f.HTTP != nil && e.Address.IsHTTP() { // no JSON-RPC, but an HTTP server
		if found := tells(ctx, run, e, c); found != nil {
			return found
		}
	}
	if f.Kind == wire.RPCError || f.Kind == wire.Protocol { // it speaks, somehow
		found := ask(ctx, run, e, c, probes(sessions))
		if found != nil || f.Kind == wire.RPCError || len(e.Address.Command) > 0 {
			return found
		}
	}
	if f.Kind != wire.Timeout && f.Kind != wire.Closed && f.Kind != wire.Protocol || !e.IsBytes() || e.Framing != "" {
		return nil
	}
	e.Framing = "header" // which says nothing to a line, and waits for more of it
	return ask(ctx, run, e, c, append([]probe{{Probe: dialect.Probe{Method: "rpc.discover"}}}, probes(sessions)...))
}

// tells asks an HTTP server, by GET, where conversations are held: in the dialects
// whose servers tell that.
func tells(ctx context.Context, run *env.Env, e endpoint.Endpoint, c *options.Client) *Finding {
	o, err := options.ForSession(ctx, run, &c.Conn, &c.Hooks)
	if err != nil {
		return nil
	}
	for _, name := range all.Names() {
		if e.Dialect = name; e.Spec().Transport.Resolve == nil {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		if at, ok := session.ResolvedEndpoint(ctx, e, o); ok {
			return &Finding{Endpoint: e, At: &at, Starts: 2}
		}
	}
	return nil
}

// ask makes the probes, each on the connection of the last if that is still
// open.
func ask(ctx context.Context, run *env.Env, e endpoint.Endpoint, c *options.Client, list []probe) *Finding {
	o, err := options.ForSession(ctx, run, &c.Conn, &c.Hooks)
	if err != nil {
		return nil
	}
	conv, err := session.Open(ctx, e, o)
	if err != nil {
		return nil
	}
	defer func() { _ = conv.Close() }()
	for _, p := range list {
		result, err := answer(ctx, conv, p)
		var rpc *wire.Error
		switch {
		case errors.As(err, &rpc):
			continue
		case err != nil:
			return nil
		}
		if p.Expected != nil && !p.Expected(result) {
			continue
		}
		found := &Finding{Endpoint: e, Starts: 2}
		if p.dialect != "" {
			found.Endpoint.Dialect = p.dialect
		}
		if p.reads == nil {
			return found
		}
		if found.Catalog = p.reads(result); found.Catalog != nil {
			found.Catalog.Dialect = found.Endpoint.Dialect
			return found
		}
	}
	if e.Framing != "" { // it has nothing to tell, but it has answered, so it speaks
		return &Finding{Endpoint: e, Starts: 2}
	}
	return nil
}

// answer returns the first answer to a probe.
func answer(ctx context.Context, conv session.Conversation, p probe) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	var params json.RawMessage
	if p.Params != "" {
		params = json.RawMessage(p.Params)
	}
	st, err := conv.Open(ctx, dialect.Op{Kind: dialect.Call, Method: p.Method, Params: params})
	if err != nil {
		return nil, err
	}
	m, err := st.Next(ctx)
	if err != nil {
		dialect.CancelAnyway(ctx, st)
		return nil, err
	}
	if m.Err != nil {
		return nil, m.Err.Clone()
	}
	return append(json.RawMessage(nil), m.Body...), nil
}

// named reads a list of names, or of objects with names.
func named(result json.RawMessage) *catalog.Catalog {
	if scan.Type(result) != 'a' {
		return nil
	}
	c := &catalog.Catalog{Catalog: 1, Methods: []catalog.Method{}}
	for v := range scan.Elements(result) {
		m := catalog.Method{}
		if name, ok := scan.Text(v); ok {
			m.Name = name
		} else if m.Name, ok = scan.Text(scan.Get(v, "name")); ok {
			m.Description, _ = scan.Text(scan.Get(v, "description"))
		}
		if m.Name != "" {
			c.Methods = append(c.Methods, m)
		}
	}
	return received(c)
}

// modules reads an object of modules with their versions, whose methods are not
// listed.
func modules(result json.RawMessage) *catalog.Catalog {
	if scan.Type(result) != 'o' {
		return nil
	}
	return received(&catalog.Catalog{Catalog: 1, Methods: []catalog.Method{}, Extra: scan.Pair("modules", result)})
}

// procedures reads the description of JSON-RPC 1.1, in which procs have names
// and params.
func procedures(result json.RawMessage) *catalog.Catalog {
	procs := scan.Get(result, "procs")
	if scan.Type(procs) != 'a' {
		return nil
	}
	c := named(procs)
	if c == nil {
		return nil
	}
	c.Info.Name, _ = scan.Text(scan.Get(result, "name"))
	c.Info.Version, _ = scan.Text(scan.Get(result, "version"))
	c.Info.Description, _ = scan.Text(scan.Get(result, "summary"))
	return c
}

// received returns an answer as a catalog that has nothing else.
func received(c *catalog.Catalog) *catalog.Catalog {
	c, err := catalog.Received(c, nil)
	if err != nil {
		return nil
	}
	return c
}

// Known returns e with the dialect and the framing that were found out earlier;
// false if they were not.
func Known(e endpoint.Endpoint) (endpoint.Endpoint, bool) {
	f, ok := cache.Found(e)
	if !ok || f.Dialect != "" && !all.Has(f.Dialect) {
		return e, false
	}
	if e.Framing == "" {
		e.Framing = f.Framing
	}
	e.Dialect = f.Dialect
	return e, true
}

// Keep stores what was found out about the peer of e, for later commands.
func (f *Finding) Keep(e endpoint.Endpoint) {
	cache.KeepFinding(e, cache.Finding{Dialect: f.Endpoint.Dialect, Framing: f.Endpoint.Framing})
}
