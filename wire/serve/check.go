package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
)

// A method is a method of the catalog. Each of its schemas is compiled when it is first used.
type method struct {
	b       *backend
	name    string
	entry   *catalog.Method
	pointer string // the JSON pointer of the entry in the catalog

	mu      sync.Mutex
	schemas map[string]*schema.Schema // by their place below pointer; nil if a schema is unusable
}

// method returns the catalog's entry for name, or nil.
func (b *backend) method(name string) *method {
	if b.o.Catalog == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if m, ok := b.methods[name]; ok {
		return m
	}
	for i := range b.o.Catalog.Methods {
		if entry := &b.o.Catalog.Methods[i]; b.o.Name(entry.Name) == name {
			m := &method{b: b, name: name, entry: entry, pointer: "/methods/" + strconv.Itoa(i), schemas: map[string]*schema.Schema{}}
			b.methods[name] = m
			return m
		}
	}
	return nil
}

// document returns the catalog as the document of the schemas.
func (b *backend) document() (json.RawMessage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.doc == nil {
		doc, err := b.o.Catalog.Marshal()
		if err != nil {
			return nil, err
		}
		b.doc = doc
	}
	return b.doc, nil
}

// schema compiles the schema at place, a pointer relative to the entry. If that fails, it prints a warning and returns
// nil.
func (m *method) schema(place string) *schema.Schema {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok := m.schemas[place]; ok {
		return s
	}
	warn := func(text string) {
		m.b.o.Warn(fmt.Sprintf("catalog: %s of %s: %s", strings.TrimPrefix(place, "/"), m.name, text))
	}
	var s *schema.Schema
	doc, err := m.b.document()
	if err == nil {
		s, err = schema.Compile(doc, m.pointer+place, schema.Options{Warn: warn, Right: m.b.o.Catalog.Right})
	}
	if err != nil {
		warn(err.Error() + "; left unchecked")
	}
	m.schemas[place] = s
	return s
}

// input checks params. It converts positional params to named ones if the schema requires names.
func (m *method) input(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	if m.entry.Params == nil || !m.b.o.Check && scan.Type(params) != 'a' {
		return params, nil
	}
	s := m.schema("/params")
	if s == nil {
		return params, nil
	}
	params = s.ByName(params)
	if !m.b.o.Check {
		return params, nil
	}
	err := s.Check(ctx, params)
	if mis, ok := errors.AsType[*schema.Mismatch](err); ok {
		data := map[string]string{"pointer": mis.Pointer, "rule": mis.Rule}
		return nil, wire.NewError(wire.CodeInvalidParams, "invalid params: "+mis.Error()).WithData(data)
	}
	return params, err
}

func (m *method) result(ctx context.Context, r *dialect.Request, what string, result json.RawMessage) error {
	if m.entry.Result == nil {
		return nil
	}
	if r.Checked != nil {
		if result = r.Checked(scan.OrNull(result)); result == nil {
			return nil
		}
	}
	return m.fits(ctx, "/result", what, result)
}

// event checks one event of a stream against the schema of its content type, or otherwise against that of the result.
func (m *method) event(ctx context.Context, r *dialect.Request, ev wire.Event) error {
	if ev.Kind != wire.Data {
		return nil
	}
	if _, ok := m.entry.Events[ev.ContentType]; ok {
		place := "/events/" + scan.Escape(ev.ContentType)
		return m.fits(ctx, place, "an event", ev.Data)
	}
	if ev.ContentType != "" {
		return nil
	}
	return m.result(ctx, r, "an event", ev.Data)
}

// An unfitError reports output of a hook that does not match the schema in the catalog.
type unfitError struct {
	method, what string
	why          error
}

func (e *unfitError) Error() string {
	return fmt.Sprintf("%s does not match the catalog: %v", e.what, e.why)
}

func (m *method) fits(ctx context.Context, place, what string, v json.RawMessage) error {
	if !m.b.o.Check {
		return nil
	}
	s := m.schema(place)
	if s == nil {
		return nil
	}
	if err := s.Check(ctx, scan.OrNull(v)); err != nil {
		if ctx.Err() != nil { // the caller no longer waits
			return ctx.Err()
		}
		return &unfitError{method: m.name, what: what, why: err}
	}
	return nil
}

func (o Options) allows(name string) bool {
	return !some(o.Deny, name) && (len(o.Allow) == 0 || some(o.Allow, name))
}

// Allows reports whether the policy allows calls of name.
func (r *responder) Allows(name string) bool { return r.b.o.allows(name) }

// allowsClass reports whether the catalog shows a class. It hides a class whose members are all denied.
func (o Options) allowsClass(name string) bool {
	member := name + ".\x00" // represents all member names
	return !some(o.Deny, member) && (len(o.Allow) == 0 || slices.ContainsFunc(o.Allow, func(p string) bool {
		return strings.HasPrefix(p, name+".") || dialect.Matches(p, member)
	}))
}

// Unmatched returns the patterns of a policy that match none of the names.
func Unmatched(patterns, names []string) []string {
	return slices.DeleteFunc(slices.Clone(patterns), func(p string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return dialect.Matches(p, name) })
	})
}

func some(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return dialect.Matches(p, name) })
}

// Checked returns a Caller that checks calls against the schemas that the peer declares. It does not send params that
// do not match, and returns an error for a result that does not match. If the dialect has no such declarations, Checked
// returns c.
func (b *backend) Checked(c dialect.Caller) dialect.Caller {
	codec := c.Connection().Codec
	if codec == nil {
		return c
	}
	declared := codec.Abilities().Declared
	if declared == nil {
		return c
	}
	return &checkedCaller{Caller: c, declaredBy: declared, warn: b.o.Warn}
}

// checkedCaller is a Caller with the peer's declarations.
type checkedCaller struct {
	dialect.Caller
	declaredBy func(method string) *catalog.Catalog
	warn       func(text string)

	mu     sync.Mutex
	of     *catalog.Catalog // the catalog that remote checks with
	remote *backend         // compiles schemas at their first use
}

// Call calls CallOp.
func (c *checkedCaller) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return c.CallOp(ctx, dialect.Op{Kind: dialect.Call, Method: method, Params: params})
}

// CallOp checks the params of a call and its result.
func (c *checkedCaller) CallOp(ctx context.Context, op dialect.Op) (json.RawMessage, error) {
	m := c.declared(op.Method)
	if m == nil {
		return c.Caller.CallOp(ctx, op)
	}
	params := scan.Or(op.Params, json.RawMessage("{}"))
	if _, err := m.input(ctx, params); err != nil {
		return nil, err
	}
	result, err := c.Caller.CallOp(ctx, op)
	if err != nil || m.entry.Result == nil {
		return result, err
	}
	var mis *schema.Mismatch
	if s := m.schema("/result"); s != nil && errors.As(s.Check(ctx, scan.OrNull(result)), &mis) {
		return nil, wire.NewError(wire.CodeServer, fmt.Sprintf("the result of %s does not match the peer's schema: %v", op.Method, mis))
	}
	return result, nil
}

// declared returns the peer's declaration of method, or nil.
func (c *checkedCaller) declared(name string) *method {
	cat := c.declaredBy(name)
	if cat == nil {
		return nil
	}
	c.mu.Lock()
	if c.of != cat {
		warn := func(text string) { c.warn("the peer's " + text) }
		c.of, c.remote = cat, newBackend(Options{Catalog: cat, Check: true, Warn: warn})
	}
	remote := c.remote
	c.mu.Unlock()
	return remote.method(name)
}
