package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"sync"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/params"
	"rpcx/commands/request"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/schema"
	"rpcx/wire/session"
)

// A typer checks the lines of a batch against the user's catalog, or else the peer's. It requests the part of the
// peer's catalog that a line needs: a module or, in dialects without modules, a method.
type typer struct {
	spec  dialect.Spec
	conv  session.Conversation // nil if requests are not allowed
	given *catalog.Catalog     // the user's catalog, or nil
	warn  func(text string)

	mu        sync.Mutex // held during a request, because other lines also need the response
	fetched   map[string]*catalog.Catalog
	refetched map[string]bool          // keys that were requested again
	warned    map[string]bool          // printed warnings
	typers    map[string]*params.Typer // by method; nil without a schema
}

// newTyper returns the typer of a batch, or nil if lines need no check. conv may be nil.
func (b *batch) newTyper(conv session.Conversation) *typer {
	if b.Params.NoCheck {
		return nil
	}
	t := &typer{
		spec: b.spec, given: b.Catalog, warn: b.Env.Console.Warn,
		fetched: map[string]*catalog.Catalog{}, refetched: map[string]bool{}, typers: map[string]*params.Typer{}, warned: map[string]bool{},
	}
	if t.given == nil && t.spec.Params.Typed {
		t.conv = conv
	}
	return t
}

// needsNoCatalog reports whether lines need no catalog.
func (t *typer) needsNoCatalog() bool { return t == nil || t.conv == nil && t.given == nil }

// check returns the error of a line with an invalid method name or params. If params do not match the peer's catalog,
// check requests it again, because it may be from an earlier process.
func (t *typer) check(ctx context.Context, method string, given json.RawMessage) error {
	if t == nil {
		return nil
	}
	if t.spec.Names.Check != nil {
		if err := t.spec.Names.Check(method, false); err != nil {
			return wire.NewError(wire.CodeInvalidRequest, cmdline.ToFault(err).Error())
		}
	}
	method = t.spec.Names.OnWire(method)
	t.mu.Lock()
	defer t.mu.Unlock()
	names, err := t.fits(ctx, method, given)
	if key := t.key(method); wire.AsFault(err) == nil && (err != nil || len(names) > 0) && t.conv != nil && !t.refetched[key] {
		t.refetched[key] = true
		delete(t.fetched, key)
		maps.DeleteFunc(t.typers, func(method string, _ *params.Typer) bool { return t.key(method) == key })
		names, err = t.fits(ctx, method, given)
	}
	for _, n := range names {
		if text := request.Misspelt(method, n); text != "" && !t.warned[text] && len(t.warned) < maxWarnings {
			t.warned[text] = true
			t.warn(text)
		}
	}
	return err
}

// maxWarnings bounds the warnings about misspelt parameters.
const maxWarnings = 100

// fits checks params against the method's schema in the catalog, and returns the undescribed params.
func (t *typer) fits(ctx context.Context, method string, given json.RawMessage) ([]schema.Undescribed, error) {
	typer, known := t.typers[method]
	if !known {
		key, cat := t.key(method), t.given
		if t.conv != nil {
			var have bool
			if cat, have = t.fetched[key]; !have {
				var err error
				if cat, err = t.conv.Typing(ctx, method); err != nil {
					return nil, env.Cause(ctx, err)
				}
				t.fetched[key] = cat
			}
		}
		var err error
		typer, err = params.ForMethod(cat, request.Conventions(cat), method, t.warn)
		switch {
		case err != nil && t.conv != nil: // the peer's schema is unusable
			t.warn(err.Error() + ": left unchecked")
		case err != nil:
			return nil, wire.NewError(wire.CodeInvalidParams, err.Error())
		}
		t.typers[method] = typer
	}
	if typer == nil {
		return nil, nil
	}
	if err := typer.Check(ctx, given); err != nil {
		if ctx.Err() != nil {
			return nil, env.Cause(ctx, err)
		}
		return nil, wire.NewError(wire.CodeInvalidParams, err.Error())
	}
	return typer.Undescribed(given), nil
}

// known returns the catalog for method if it is already known, else nil.
func (t *typer) known(method string) *catalog.Catalog {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return cmp.Or(t.given, t.fetched[t.key(t.spec.Names.OnWire(method))])
}

// key returns the part of the catalog to request: the module of a method, or the method.
func (t *typer) key(method string) string {
	if !t.spec.Discovery.ByModule() {
		return method
	}
	return t.spec.Discovery.Module(method)
}
