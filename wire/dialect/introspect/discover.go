package introspect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// askBound bounds each discovery call, because a service that cannot describe itself must not delay the user's call.
const askBound = 15 * time.Second

// askGrace bounds the wait for the end of a stream after an error event.
const askGrace = time.Second

// discovery is the known description of the service (sections 4 and 6.1 of the specification), with the part that is
// not in the cache.
type discovery struct {
	kept dialect.DiscoveryCache

	mu          sync.Mutex // held during a request to the service; a second caller waits for the same response
	current     *discovered
	unsaved     bool             // current contains more than the cache
	unavailable bool             // the service does not describe itself
	fetched     map[string]int64 // for each module whose schema arrived on this connection, the value of calls at that time
	served      map[string]int64 // for each module whose schema Typing has returned, the value of calls at that time

	calls atomic.Int64 // the number of encoded calls of the user
}

func (d *discovery) warn(text string) {
	if d.kept.Warn != nil {
		d.kept.Warn(text)
	}
}

func (d *discovery) note(text string) {
	if d.kept.Note != nil {
		d.kept.Note(text)
	}
}

// Describe requests all modules and their schemas. It returns wire.ErrUnsupported if the service does not describe
// itself.
func (c *codec) Describe(ctx context.Context, caller dialect.Caller) (*catalog.Catalog, error) {
	c.found.mu.Lock()
	defer c.found.mu.Unlock()
	if err := c.learn(ctx, caller); err != nil {
		return nil, err
	}
	if c.found.current == nil {
		return nil, wire.ErrUnsupported
	}
	defer c.found.save() // once, because there may be hundreds of modules
	names := c.found.current.names()
	if err := c.learnModules(ctx, caller, names); err != nil {
		return nil, err
	}
	return c.found.current.catalog(c.found.note, names...), nil
}

// Typing returns a catalog with the schema of method's module. method may also be a module's name. Typing returns nil
// if the service does not describe itself. A second query for the same call means that the schema did not match the
// call, and Typing requests it again.
func (c *codec) Typing(ctx context.Context, caller dialect.Caller, method string) (*catalog.Catalog, error) {
	c.found.mu.Lock()
	defer c.found.mu.Unlock()
	module, _ := Split(WireName(method))
	d := &c.found
	var earlier json.RawMessage
	if d.current != nil && d.doubted(module) {
		earlier = d.current.Schemas[module]
		delete(d.current.Schemas, module)
	}
	if err := c.learn(ctx, caller); err != nil || d.current == nil {
		return nil, tolerable(ctx, err)
	}
	defer d.save()
	if err := c.learnModules(ctx, caller, []string{module}); err != nil {
		return nil, tolerable(ctx, err)
	}
	if d.current.Schemas[module] == nil && earlier != nil {
		d.current.Schemas[module] = earlier
	}
	wire.Put(&d.served, module, d.calls.Load())
	return d.current.catalog(d.note, module), nil
}

// doubted reports whether Typing must request a module's schema again before returning it a second time. It must do so
// for a schema from the cache of an earlier process. It must also do so for a schema that arrived before the last call,
// if no call has followed since Typing returned it, because the caller has then rejected the schema.
func (d *discovery) doubted(module string) bool {
	calls := d.calls.Load()
	served, again := d.served[module]
	fetched, fresh := d.fetched[module]
	return again && (!fresh || served == calls && fetched != calls)
}

// tolerable returns err if it also ends the user's call (a deadline, a lost connection, an unreachable service).
// Otherwise only discovery has failed, and tolerable returns nil.
func tolerable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f := wire.AsFault(err)
	if f != nil && (f.Kind == wire.Closed || f.Kind == wire.Auth || f.Kind == wire.Unreachable && f.HTTP == nil) {
		return err
	}
	return nil
}

// learn updates d.current to the modules that the service has now. It uses a cache entry if the service still has one
// of the entry's hashes.
func (c *codec) learn(ctx context.Context, caller dialect.Caller) error {
	d := &c.found
	stale, wrong := c.hashes.doubts()
	switch {
	case d.unavailable, d.current != nil && !stale && !wrong:
		return nil
	case d.current != nil && !stale:
		d.current.Schemas, d.fetched = map[string]json.RawMessage{}, nil
		d.distrust()
		c.hashes.trust(d.current.Hashes)
		return nil
	}
	old := d.current
	if old == nil && d.kept.Load != nil {
		old = readDiscovered(d.kept.Load())
	}
	now, err := c.offered(ctx, caller, old)
	switch {
	case now != nil:
		d.current, d.fetched, d.unsaved = now, nil, d.unsaved || now != old
		c.hashes.trust(now.Hashes)
		return nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case old != nil:
		d.current, d.fetched, err = old, nil, nil
		d.warn("the service did not return its schema: rpcx uses the cached one, which may be out of date")
	case !lost(err):
		d.unavailable = true
		if errors.Is(err, context.DeadlineExceeded) {
			d.warn("the service did not describe its methods within " + askBound.String() + ": parameters are neither converted nor checked")
		}
		err = nil
	}
	c.hashes.trust(nil)
	return err
}

// offered requests the modules that the service has now. It returns old if the service still has one of old's hashes,
// and nil if the service does not return its modules.
func (c *codec) offered(ctx context.Context, caller dialect.Caller, old *discovered) (*discovered, error) {
	c.hashes.trust(nil) // the hashes that arrive from here on belong to the new modules
	var hash string
	if old != nil || c.found.kept.Update != nil { // otherwise there is no cache to compare with
		var err error
		if hash, err = c.askHash(ctx, caller); err != nil {
			return nil, err
		}
	}
	if old != nil && old.known(append(c.hashes.collected(), hash)) {
		return old, nil
	}
	modules, err := c.ask(ctx, caller, schemaMethod, nil)
	if err != nil || len(scan.Get(modules, "modules")) == 0 {
		return nil, err
	}
	return newDiscovered(modules, append(c.hashes.collected(), hash)), nil
}

// lost reports whether err means that the service did not respond: it was unreachable, the connection ended, or its
// message was invalid.
func lost(err error) bool {
	f := wire.AsFault(err)
	return f != nil && f.Kind != wire.Timeout
}

// askHash requests the service hash. It returns "" without an error if the service has none.
func (c *codec) askHash(ctx context.Context, caller dialect.Caller) (string, error) {
	answer, err := c.ask(ctx, caller, hashMethod, nil)
	switch _, ok := errors.AsType[*wire.Error](err); {
	case ok:
		return "", nil
	case err != nil:
		return "", err
	}
	if scan.Type(answer) == 's' {
		return string(answer), nil
	}
	return string(scan.Get(answer, "hash")), nil
}

// ask makes one discovery call and returns the last data of the stream. After an error event, it waits for the end of the
// stream, which usually follows at once, so that it does not have to unsubscribe. The id of the stream is not data.
func (c *codec) ask(ctx context.Context, caller dialect.Caller, method string, params json.RawMessage) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	st, err := caller.Open(ctx, dialect.Op{Kind: dialect.Call, Method: method, Params: params})
	if err != nil {
		return nil, err
	}
	var data json.RawMessage
	var failed error
	for {
		m, err := st.Next(ctx)
		switch {
		case err == io.EOF && failed == nil && data == nil:
			return nil, wire.NewError(wire.CodeServer, method+" returned no data")
		case err == io.EOF:
			return data, failed
		case err != nil:
			dialect.CancelAnyway(ctx, st)
			return data, errors.Join(failed, err)
		case m.Kind == wire.Response && m.Err == nil && !m.Final:
			continue
		}
		ev, err := dialect.EventOf(c, m)
		switch {
		case err != nil:
			dialect.CancelAnyway(ctx, st)
			return nil, err
		case ev.Kind == wire.Data:
			data = bytes.Clone(ev.Data)
		case ev.Kind == wire.Failure && failed == nil:
			failed = ev.Err.Clone()
			var stop context.CancelFunc
			ctx, stop = context.WithTimeout(ctx, askGrace)
			defer stop()
		}
	}
}
