package codec

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/dialect/poll"
	"rpcx/wire/scan"
)

// maxPages bounds the pages of one list.
const maxPages = 1000

// Describe requests the peer's catalog with the calls of [[describe]], in order.
func (c *Codec) Describe(ctx context.Context, caller dialect.Caller) (*catalog.Catalog, error) {
	if len(c.d.Page.Describe) == 0 {
		if describe := c.Codec.Abilities().Describe; describe != nil {
			return describe(ctx, caller)
		}
		return nil, wire.ErrUnsupported
	}
	return c.describe(ctx, caller, "")
}

// describe requests the parts of the catalog, up to the part that contains method. If method is "", it requests all parts, because
// no method has that name.
func (c *Codec) describe(ctx context.Context, caller dialect.Caller, method string) (*catalog.Catalog, error) {
	found, last := found{at: map[string]int{}}, c.described.Load()
	for i := range c.d.Page.Describe {
		rule := &c.d.Page.Describe[i]
		if ok, err := c.holds(rule.When); err != nil {
			return nil, err
		} else if !ok || rule.Get != "" && c.o.Handshake.Get == nil {
			continue
		}
		if method != "" && rule.Methods == nil && rule.Defs == nil { // the peer's information about itself contains no types of params
			continue
		}
		if err := c.part(ctx, caller, rule, &found); err != nil {
			return nil, err
		}
		found.partial = cmp.Or(found.partial, rule.Partial)
		if _, ok := found.at[method]; ok {
			break
		}
	}
	var o scan.Object
	o.Int("catalog", 1)
	o.Text("dialect", c.d.Page.Name)
	o.Add("info", found.info)
	o.Add("methods", scan.ArrayOf(found.methods...))
	o.Add("$defs", found.defs)
	if found.partial != "" {
		o.Add("extra", scan.Pair(catalog.Partial, scan.AppendQuoted(nil, found.partial)))
	}
	cat, err := catalog.Parse(o.End())
	if err != nil {
		return nil, protocolFault("describe", "the peer's description of itself cannot be read: "+err.Error())
	}
	cat.SetKeep(found.keep)
	c.described.CompareAndSwap(last, &described{cat, found.until})
	return cat, nil
}

// found contains the parts of the catalog that were received so far.
type found struct {
	methods []json.RawMessage
	at      map[string]int  // the index of each method by name
	info    json.RawMessage // the peer's information about itself, an object, or nil
	defs    json.RawMessage // an object of the schemas that methods use, or nil
	until   time.Time       // the time when the first part expires
	keep    catalog.Keep    // how the peer allows the parts to be stored
	partial string          // the reason why the peer may have more methods, or ""
}

// part requests one part of the catalog, page by page, and adds its methods. It merges methods that have the same name.
func (c *Codec) part(ctx context.Context, caller dialect.Caller, rule *load.Describe, to *found) error {
	sc := c.Scope()
	params, err := rule.Params.First(c.kept(), sc.Value)
	if err != nil {
		return err
	}
	return c.Pages(rule.Call, func(cursor json.RawMessage) (json.RawMessage, error) {
		if cursor != nil {
			if params, err = rule.Next.Params.First(cursor, sc.Value); err != nil {
				return nil, err
			}
		}
		answer := c.kept()
		switch {
		case rule.Get != "":
			answer, err = jsonAt(rule.Get, func(path string) ([]byte, error) { return c.o.Handshake.Get(ctx, path) })
		case rule.Call != "":
			answer, err = c.Ask(ctx, caller, rule.Call, params)
		}
		switch _, ok := errors.AsType[*wire.Error](err); {
		case rule.Optional && err != nil && (rule.Get != "" || ok):
			return nil, nil
		case err != nil:
			return nil, err
		}
		if err := to.stays(rule, answer, sc.Value); err != nil {
			return nil, program.OfPeer(answer, err)
		}
		answer = c.flow.Listed(caller, rule.Call, answer)
		if err := c.methods(rule, answer, to); err != nil || rule.Next == nil {
			return nil, program.OfPeer(answer, err)
		}
		next, err := rule.Next.Result.First(answer, sc.Value)
		return next, program.OfPeer(answer, err)
	})
}

// Pages reads a list that a method of the peer returns in pages. page requests the page for a cursor (nil for the first page)
// and returns the next cursor; nil or null ends the list.
func (c *Codec) Pages(method string, page func(cursor json.RawMessage) (next json.RawMessage, err error)) error {
	var cursor json.RawMessage
	for range maxPages {
		next, err := page(cursor)
		if err != nil || len(next) == 0 || string(next) == "null" {
			return err
		}
		if string(next) == string(cursor) {
			return protocolFault(method, "the list repeats a page: the cursor for the next page is the same as before")
		}
		cursor = next
	}
	return protocolFault(method, fmt.Sprintf("the list has more than %d pages", maxPages))
}

func (c *Codec) methods(rule *load.Describe, answer json.RawMessage, to *found) error {
	sc := c.Scope()
	list, err := rule.Methods.All(answer, sc.Value)
	if err != nil {
		return err
	}
	defs, err := rule.Defs.All(answer, sc.Value)
	if err != nil {
		return err
	}
	for _, more := range defs {
		to.defs = Merged(to.defs, more)
	}
	if rule.Info != nil {
		info, err := rule.Info.First(answer, sc.Value)
		if err != nil {
			return err
		}
		to.info = withInfo(to.info, info)
	}
	for _, m := range list {
		name := scan.String(scan.Get(m, "name"))
		i, again := to.at[name]
		switch {
		case name == "":
		case again:
			to.methods[i] = joined(to.methods[i], m)
		default:
			to.at[name] = len(to.methods)
			to.methods = append(to.methods, joined(json.RawMessage("{}"), m))
		}
	}
	return nil
}

// withInfo returns info with the members of more that it lacks. It omits members whose type the catalog does not allow, because the
// others are still useful.
func withInfo(info, more json.RawMessage) json.RawMessage {
	types := map[string]byte{"name": 's', "version": 's', "description": 's', "extra": 'o'}
	var valid scan.Object
	for name, val := range scan.Named(more) {
		if types[name] == scan.Type(val) {
			valid.Add(name, val)
		}
	}
	return Merged(valid.End(), info)
}

// joined merges two descriptions of one method. It adds missing members that are not null, and missing elements of lists;
// otherwise the first description takes precedence.
func joined(first, more json.RawMessage) json.RawMessage {
	switch {
	case scan.Type(first) == 'o' && scan.Type(more) == 'o':
		var o scan.Object
		for name, val := range scan.Named(first) {
			if add := scan.Get(more, name); add != nil {
				val = joined(val, add)
			}
			o.Add(name, val)
		}
		for name, val := range scan.Named(more) {
			if scan.Get(first, name) == nil && string(val) != "null" {
				o.Add(name, val)
			}
		}
		return o.End()
	case scan.Type(first) == 'a' && scan.Type(more) == 'a':
		list := scan.AppendArray(nil)
		have := map[string]bool{}
		for _, part := range []json.RawMessage{first, more} {
			for val := range scan.Elements(part) {
				if key := string(scan.Minify(nil, val)); !have[key] {
					have[key] = true
					list.Add(val)
				}
			}
		}
		return list.End()
	}
	return first
}

// Ask makes a call that is not wrapped, and returns the result.
func (c *Codec) Ask(ctx context.Context, caller dialect.Caller, method string, params json.RawMessage) (json.RawMessage, error) {
	m, err := poll.Ask(ctx, caller, method, params)
	switch {
	case err != nil:
		return nil, err
	case m.Err != nil:
		return nil, m.Err
	}
	if c.flow.Interim(&m) {
		return nil, protocolFault(method, "the response is not the result: "+shortened(m.Body))
	}
	return m.Body, nil
}

// Typing returns a catalog with the types of a method's params. It returns nil if the dialect file has no types, or if it
// wraps calls of other methods only.
func (c *Codec) Typing(ctx context.Context, caller dialect.Caller, method string) (*catalog.Catalog, error) {
	if !c.d.Page.Typed || len(c.d.Page.Describe) == 0 || c.d.Page.Call != nil && c.d.Plain(method) {
		return nil, nil
	}
	if d := c.described.Load(); d != nil && time.Now().Before(d.until) && d.Method(method) != nil {
		return d.Catalog, nil
	}
	cat, err := c.describe(ctx, caller, method)
	if _, ok := errors.AsType[*wire.Error](err); ok || errors.Is(err, wire.ErrUnsupported) {
		return nil, nil // the response to the call will report the error
	}
	return cat, err
}
