package introspect

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// asksAtOnce is the maximum number of modules that are requested at the same time.
const asksAtOnce = 8

// learnModules requests the schemas of the named modules, several at a time. It omits modules whose schema is known,
// and those that the service does not list.
func (c *codec) learnModules(ctx context.Context, caller dialect.Caller, names []string) error {
	d := &c.found
	names = d.current.unknown(names)
	schemas, errs := make([]json.RawMessage, len(names)), make([]error, len(names))
	slots := make(chan struct{}, asksAtOnce)
	var asking sync.WaitGroup
	for i, name := range names {
		slots <- struct{}{}
		asking.Go(func() {
			defer wire.Guard()
			schemas[i], errs[i] = c.ask(ctx, caller, moduleSchemaMethod, scan.ArrayOf(scan.AppendQuoted(nil, name)))
			<-slots
		})
	}
	asking.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, name := range names {
		if lost(errs[i]) {
			return errs[i]
		}
		d.learnt(name, schemas[i], errs[i])
	}
	return nil
}

// learnt stores the answer to a request for a module's schema. If there is no schema in it, the user gets the reason.
func (d *discovery) learnt(name string, schema json.RawMessage, err error) {
	if err == nil && scan.Type(schema) == 'o' {
		if d.fetched == nil {
			d.fetched = map[string]int64{}
		}
		d.current.Schemas[name], d.fetched[name], d.unsaved = schema, d.calls.Load(), true
		return
	}
	text := "the service did not return the schema of its module " + name
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		d.warn(text + ": no response within " + askBound.String())
	case err != nil:
		d.note(text + ": " + err.Error())
	default:
		d.note(text)
	}
}
