package introspect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// askBound is how long one question of discovery may take: what a service does
// not know of itself must not hold up the call.
const askBound = 15 * time.Second

// askGrace is how long the end of an answer is waited for after an error.
const askGrace = time.Second

// discovery is what a conversation knows of the service (section 6.1 of the
// page), and how it came to know it.
type discovery struct {
	kept dialect.Kept

	mu      sync.Mutex // held while the service is asked: whoever comes second finds the answer
	know    *knowledge
	unsaved bool            // some of it is not kept yet
	vain    bool            // it does not tell: asked in vain
	fresh   map[string]bool // modules whose schema came over this connection
	handed  map[string]bool // modules whose schema was given to somebody
}

// Keep says where discovery is kept.
func (c *codec) Keep(k dialect.Kept) { c.found.kept = k }

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

// Describe asks for all modules and their schemas. It returns
// wire.ErrUnsupported where the service does not tell.
func (c *codec) Describe(ctx context.Context, caller dialect.Caller) (*catalog.Catalog, error) {
	c.found.mu.Lock()
	defer c.found.mu.Unlock()
	if err := c.learn(ctx, caller); err != nil {
		return nil, err
	}
	if c.found.know == nil {
		return nil, wire.ErrUnsupported
	}
	defer c.found.save() // once: there may be hundreds of modules
	for _, m := range c.found.know.modules() {
		if err := c.learnModule(ctx, caller, m.Namespace); err != nil {
			return nil, err
		}
	}
	return c.found.know.catalog(c.found.note), nil
}

// Typing asks for the modules and for the schema of the one that method is of;
// of a module's name, for that. It returns nil where the service does not tell.
// What was kept from earlier is given once; whoever asks again had his doubts
// and gets what the service says now.
func (c *codec) Typing(ctx context.Context, caller dialect.Caller, method string) (*catalog.Catalog, error) {
	c.found.mu.Lock()
	defer c.found.mu.Unlock()
	module, _ := Split(WireName(method))
	d := &c.found
	var earlier json.RawMessage
	if d.know != nil && d.handed[module] && !d.fresh[module] {
		earlier = d.know.Schemas[module]
		delete(d.know.Schemas, module)
	}
	if err := c.learn(ctx, caller); err != nil || d.know == nil {
		return nil, tolerable(ctx, err)
	}
	defer d.save()
	if err := c.learnModule(ctx, caller, module); err != nil {
		return nil, tolerable(ctx, err)
	}
	if d.know.Schemas[module] == nil && earlier != nil {
		d.know.Schemas[module] = earlier
	}
	if d.handed == nil {
		d.handed = map[string]bool{}
	}
	d.handed[module] = true
	return d.know.catalog(d.note), nil
}

// tolerable is err where it ends a call too, and not only what we wanted to know
// before it.
func tolerable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var f *wire.Fault
	if errors.As(err, &f) && f.Kind == wire.Closed {
		return err
	}
	return nil
}

// learn sees that the modules are known as they are now: what is kept is taken
// where the service still has a hash of then.
func (c *codec) learn(ctx context.Context, caller dialect.Caller) error {
	d := &c.found
	stale, wrong := c.hashes.doubts()
	switch {
	case d.vain, d.know != nil && !stale && !wrong:
		return nil
	case d.know != nil && !stale:
		d.know.Schemas, d.fresh = map[string]json.RawMessage{}, nil
		d.distrust()
		c.hashes.know(d.know.Hashes)
		return nil
	}
	old := d.know
	if old == nil && d.kept.Load != nil {
		old = readKnowledge(d.kept.Load())
	}
	c.hashes.ask()
	var hash string
	var err error
	if old != nil || d.kept.Update != nil { // else it would be compared with nothing
		hash, err = c.askHash(ctx, caller)
	}
	if err == nil && old != nil && old.known(append(c.hashes.asked(), hash)) {
		d.know, d.fresh = old, nil
		c.hashes.know(old.Hashes)
		return nil
	}
	var modules json.RawMessage
	if err == nil {
		modules, err = c.ask(ctx, caller, schemaMethod, nil)
	}
	if err == nil && len(scan.Get(modules, "modules")) > 0 {
		d.know, d.fresh = newKnowledge(modules, append(c.hashes.asked(), hash)), nil
		c.hashes.know(d.know.Hashes)
		d.unsaved = true
		return nil
	}
	c.hashes.know(nil)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if old != nil {
		d.know, d.fresh = old, nil
		d.warn("the service does not say what it offers now: what it said earlier is used, which may be out of date")
		return nil
	}
	d.vain = true
	switch {
	case lost(err):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		d.warn("the service was asked what it offers, and has not answered within " + askBound.String() + ": parameters are neither typed nor checked")
	}
	return nil
}

// lost says that an error is the connection's end.
func lost(err error) bool {
	f := wire.AsFault(err)
	return f != nil && f.Kind == wire.Closed
}

// askHash is the service's hash; "" with no error where it has none to tell.
func (c *codec) askHash(ctx context.Context, caller dialect.Caller) (string, error) {
	answer, err := c.ask(ctx, caller, hashMethod, nil)
	var rpc *wire.Error
	switch {
	case errors.As(err, &rpc):
		return "", nil
	case err != nil:
		return "", err
	}
	if scan.Type(answer) == 's' {
		return string(answer), nil
	}
	return string(scan.Get(answer, "hash")), nil
}

// learnModule sees that the schema of a module is known.
func (c *codec) learnModule(ctx context.Context, caller dialect.Caller, namespace string) error {
	d := &c.found
	if d.know == nil || d.know.Schemas[namespace] != nil || d.know.module(namespace) == nil {
		return nil
	}
	schema, err := c.ask(ctx, caller, moduleSchemaMethod, json.RawMessage("["+quoted(namespace)+"]"))
	if err != nil || scan.Type(schema) != 'o' {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if text := "the service does not tell the schema of its module " + namespace; errors.Is(err, context.DeadlineExceeded) {
			d.warn(text + ": no answer within " + askBound.String())
		} else {
			d.note(text)
		}
		return nil
	}
	if d.fresh == nil {
		d.fresh = map[string]bool{}
	}
	d.know.Schemas[namespace], d.fresh[namespace], d.unsaved = schema, true, true
	return nil
}

// ask makes one call of discovery, and returns its data.
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
			return nil, wire.NewError(wire.CodeServer, method+" gave no data")
		case err == io.EOF:
			return data, failed
		case err != nil:
			bye, done := context.WithTimeout(context.WithoutCancel(ctx), askGrace)
			defer done()
			_ = st.Cancel(bye)
			return data, errors.Join(failed, err)
		case m.Kind == wire.Response && m.Err == nil && !m.Final:
			continue
		}
		ev, err := c.Event(m)
		switch {
		case err != nil:
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

// Leave keeps what was learnt by the way: that what is kept is out of date, or
// may be wrong. It says nothing to the far side.
func (c *codec) Leave(context.Context, dialect.Caller) error {
	d := &c.found
	stale, wrong := c.hashes.doubts()
	if d.kept.Update == nil || !stale && !wrong {
		return nil
	}
	if stale {
		d.kept.Update(func(json.RawMessage) json.RawMessage { return nil })
	} else {
		d.distrust()
	}
	return nil
}

// distrust forgets the schemas that are kept.
func (d *discovery) distrust() {
	if d.kept.Update == nil {
		return
	}
	d.kept.Update(func(raw json.RawMessage) json.RawMessage {
		k := readKnowledge(raw)
		if k == nil {
			return nil
		}
		k.Schemas = map[string]json.RawMessage{}
		return k.json()
	})
}

// save keeps what is known, with the schemas that another process has kept
// meanwhile.
func (d *discovery) save() {
	if d.kept.Update == nil || !d.unsaved {
		return
	}
	d.unsaved = false
	d.kept.Update(func(raw json.RawMessage) json.RawMessage {
		k := *d.know
		k.Schemas = map[string]json.RawMessage{}
		if old := readKnowledge(raw); old != nil && old.known(k.Hashes) {
			k.add(old.Schemas)
		}
		k.add(d.know.Schemas)
		return k.json()
	})
}

// known says whether one of these hashes is one of what k was fetched under.
func (k *knowledge) known(hashes []string) bool {
	return slices.ContainsFunc(hashes, func(h string) bool { return h != "" && slices.Contains(k.Hashes, h) })
}
