package hotrepl

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/poll"
	"rpcx/wire/scan"
)

// Handshake waits for the host's handshake, which the host sends first. It returns a Fault of kind Protocol for another
// protocol version, and of kind Closed if the connection closes first.
func (c *codec) Handshake(ctx context.Context, caller dialect.Caller) error {
	st, err := caller.Open(ctx, dialect.Op{Kind: dialect.Watch, Method: typeHandshake})
	if err == nil {
		defer func() { _ = st.Cancel(ctx) }()
		_, err = st.Next(ctx)
	}
	var f *wire.Fault
	switch {
	case err == io.EOF:
		err = wire.NewFault(wire.Closed, "the connection ended", err)
		fallthrough
	case errors.As(err, &f) && f.Kind == wire.Closed:
		g := *wire.AsFault(err)
		g.Message += ", before the handshake"
		return &g
	case err != nil:
		return err
	}
	return check(c.received())
}

// received returns the handshake, or nil if it has not arrived.
func (c *codec) received() json.RawMessage {
	if raw := c.handshake.Load(); raw != nil {
		return *raw
	}
	return nil
}

// check returns a Fault of kind Protocol for a handshake with another protocol version.
func check(raw json.RawMessage) error {
	v := scan.Get(raw, "protocolVersion")
	if string(v) == version || string(v) == version+".0" {
		return nil
	}
	what := fmt.Sprintf("the host uses version %.40s of hotrepl, but rpcx supports %s (protocolVersion)", v, version)
	if v == nil {
		what = "the host's handshake has no protocolVersion"
	}
	return wire.NewFault(wire.Protocol, what, nil).WithMethod(typeHandshake)
}

// Describe returns a catalog of the handshake and of all listed commands with their descriptions. It caches the catalog
// until an assembly_reload.
func (c *codec) Describe(ctx context.Context, caller dialect.Caller) (*catalog.Catalog, error) {
	if known := c.known(whole{}); known != nil {
		return known.Clone(), nil
	}
	cat := c.empty()
	if string(scan.Get(scan.Get(cat.Extra, "control"), "supported")) == "false" {
		return cat, nil
	}
	names, err := c.list(ctx, caller)
	if err != nil {
		return nil, err
	}
	var lacks scan.Object
	for _, d := range names {
		if scan.Get(d, "inputSchema") == nil { // some hosts list whole descriptions
			name, _ := scan.Text(scan.Get(d, "name"))
			more, err := c.descriptor(ctx, caller, name)
			switch rpc, ok := errors.AsType[*wire.Error](err); {
			case err == nil:
				d = more
			case ok:
				lacks.Text(name, rpc.Error())
			default:
				return nil, err
			}
		}
		cat.Methods = append(cat.Methods, method(d))
	}
	if !lacks.Empty() {
		incomplete(cat, lacks)
		return cat, nil // the next use requests the catalog again
	}
	c.catalogs.Store(whole{}, cat)
	return cat.Clone(), nil
}

// incomplete lists in a catalog the commands without a description, with the reasons.
func incomplete(cat *catalog.Catalog, lacks scan.Object) {
	var o scan.Object
	o.Members(cat.Extra)
	o.Add(catalog.Incomplete, lacks.End())
	cat.Extra = o.End()
}

// Typing returns a catalog with the description of one command. If the host has no such command, the catalog contains
// all names for a suggestion.
func (c *codec) Typing(ctx context.Context, caller dialect.Caller, name string) (*catalog.Catalog, error) {
	if known := cmp.Or(c.known(whole{}), c.known(name)); known != nil {
		return known.Clone(), nil
	}
	cat := c.empty()
	d, err := c.descriptor(ctx, caller, name)
	switch rpc, ok := errors.AsType[*wire.Error](err); {
	case ok:
		names, lerr := c.list(ctx, caller)
		if lerr != nil {
			return nil, nil // the call's own response will report the problem
		}
		cat.Methods = wire.Map(names, method)
		if cat.Method(name) != nil { // the command exists but has no description
			var lacks scan.Object
			lacks.Text(name, rpc.Error())
			incomplete(cat, lacks)
		}
		return cat, nil
	case err != nil:
		return nil, err
	}
	cat.Methods = []catalog.Method{method(d)}
	c.catalogs.Store(name, cat)
	return cat.Clone(), nil
}

// known returns the stored catalog with that key, or nil. The caller must not change it.
func (c *codec) known(key any) *catalog.Catalog {
	found, _ := c.catalogs.Load(key)
	cat, _ := found.(*catalog.Catalog)
	return cat
}

func (c *codec) list(ctx context.Context, caller dialect.Caller) ([]json.RawMessage, error) {
	body, err := ask(ctx, caller, typeList, nil)
	if err != nil {
		return nil, err
	}
	if scan.Type(body) != 'a' {
		return nil, malformed(typeListResult)
	}
	var all []json.RawMessage
	for val := range scan.Elements(body) {
		if name, _ := scan.Text(scan.Get(val, "name")); name != "" {
			all = append(all, val)
		}
	}
	return all, nil
}

func (c *codec) descriptor(ctx context.Context, caller dialect.Caller, name string) (json.RawMessage, error) {
	body, err := ask(ctx, caller, typeDescribe, build("").text("name", name).end())
	if err != nil {
		return nil, err
	}
	if received, _ := scan.Text(scan.Get(body, "name")); received == "" {
		return nil, malformed(typeDescribeResult)
	}
	return body, nil
}

// ask sends a message of type kind and returns the body of the response, or the host's error as a *wire.Error.
func ask(ctx context.Context, caller dialect.Caller, kind string, members json.RawMessage) (json.RawMessage, error) {
	m, err := poll.Ask(ctx, caller, kind, members)
	switch {
	case err != nil:
		return nil, err
	case m.Err != nil:
		return nil, m.Err
	case m.Method != kind+"_result":
		return nil, malformed(kind + "_result")
	}
	return m.Body, nil
}

func malformed(kind string) error {
	return wire.NewFault(wire.Protocol, "the host sent an invalid "+kind, nil)
}

// empty returns a catalog with the handshake's data and no methods.
func (c *codec) empty() *catalog.Catalog {
	cat := &catalog.Catalog{Catalog: 1, Dialect: "hotrepl"}
	raw := c.received()
	if raw == nil {
		return cat
	}
	host := scan.Get(raw, "host")
	cat.Info.Name, _ = scan.Text(scan.Get(host, "name"))
	cat.Info.Version, _ = scan.Text(scan.Get(host, "version"))
	var extra scan.Object
	extra.Named(raw, "type")
	cat.Extra = extra.End()
	return cat
}

// descriptorFields are the members of a descriptor that a catalog calls otherwise or contains.
var descriptorFields = map[string]string{
	"name": "name", "description": "description", "kind": "kind", "inputSchema": "params", "outputSchema": "result",
}

// method converts a descriptor or summary to a method of a catalog.
func method(d json.RawMessage) (m catalog.Method) {
	m.Fill(bytes.Clone(d), descriptorFields)
	if m.Kind != catalog.Job {
		m.Kind = catalog.Call
	}
	return m
}
