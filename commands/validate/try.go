package validate

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"rpcx/commands/env"
	"rpcx/format/report"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/validate/declared"
	"rpcx/wire/validate/rules"
)

// A call is a method that is called, and held against what was said of it.
type call struct {
	typed  string          // as the user wrote it
	params json.RawMessage // nil: made of the schema
	hinted bool            // nobody named it: it only reads
}

// given are the calls of --try.
func (o *validateOptions) given() (all []call, err error) {
	for _, text := range o.try {
		name, params, ok := strings.Cut(text, "=")
		c := call{typed: name}
		if ok {
			c.params = scan.Trim([]byte(params))
			if err := scan.Valid(c.params, wire.DefaultMaxDepth); err != nil {
				f := wire.Usagef("--try %s: the params are no JSON: %v", text, err)
				f.Hint = `write METHOD='{"key":"value"}'`
				return nil, f
			}
		}
		if name == "" {
			return nil, wire.Usagef("--try %s: the method is missing", text)
		}
		all = append(all, c)
	}
	return all, nil
}

// tries calls what may be called.
func (j *judge) tries(ctx context.Context) error {
	spec := j.endpoint.Spec()
	named := len(j.calls)
	j.hinted()
	for _, c := range j.calls {
		method := c.typed
		if j.catalog.Method(method) == nil {
			method = spec.OnWire(c.typed)
		}
		m := j.catalog.Method(method)
		params := c.params
		if params == nil && m != nil && m.Params != nil {
			doc, _ := j.catalog.Marshal()
			params = catalog.ExampleValue(m.Params, doc)
		}
		if !c.hinted {
			j.facts["try"] = append(j.facts["try"], map[string]json.RawMessage{"method": scan.AppendQuoted(nil, method), "params": orNull(params)})
		}
		if err := j.try(ctx, c, m, params); err != nil {
			return err
		}
	}
	if named == 0 && len(j.calls) == 0 {
		j.skip(declared.ResultFit, "nothing may be called (--try METHOD, --trust-hints)")
	}
	return nil
}

// hinted adds the methods that only read, where that is said by the user's own
// catalog, or the peer is trusted.
func (j *judge) hinted() {
	if j.catalog == nil {
		return
	}
	for i := range j.catalog.Methods {
		m := &j.catalog.Methods[i]
		if !readOnly(m) || slices.ContainsFunc(j.calls, func(c call) bool { return c.typed == m.Name }) {
			continue
		}
		if j.o.catalog == "" && !j.o.trust {
			j.skip(declared.ResultFit+" "+m.Name, "only the peer says that it only reads (--trust-hints)")
			continue
		}
		j.calls = append(j.calls, call{typed: m.Name, hinted: true})
	}
}

// readHints are the hints by which a method says that it only reads.
var readHints = []string{"readOnly", "readOnlyHint", "read_only", "safe"}

// readOnly reports whether a method is said to do nothing but read.
func readOnly(m *catalog.Method) bool {
	for _, hint := range readHints {
		if string(scan.Get(m.Hints, hint)) == "true" {
			return true
		}
	}
	return len(m.Effects) > 0 && !slices.ContainsFunc(m.Effects, func(e string) bool { return e != "read" })
}

func orNull(val json.RawMessage) json.RawMessage {
	if val == nil {
		return json.RawMessage("null")
	}
	return val
}

// try calls a method and holds what it returns against what was said of it. That it
// fails is a finding only where nobody but the user can have made its params.
func (j *judge) try(ctx context.Context, c call, m *catalog.Method, params json.RawMessage) error {
	method := c.typed
	kind := dialect.Call
	if m != nil {
		method = m.Name
		if m.Kind == catalog.Stream && !j.endpoint.Spec().Catalog.CallsStream {
			kind = dialect.Subscribe
		}
	}
	test := report.Case{Name: declared.ResultFit + " " + method, Class: j.endpoint.Dialect}
	checked, err := j.results(ctx, dialect.Op{Kind: kind, Method: c.typed, Params: params}, method)
	var rpc *wire.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &rpc) && c.params == nil:
		j.skip(test.Name, "it fails with params that were made of its schema: "+rpc.Error())
		return nil
	case err != nil:
		j.count.all++
		return j.found(test, finding{
			source: j.endpoint.String(), rule: declared.ResultFit, level: string(rules.Must), section: "what the peer says of itself",
			method: method, message: "What --try names answers. But " + err.Error(), sent: brief(params),
		})
	case checked == 0:
		j.skip(test.Name, "nothing is said of what it returns")
		return nil
	}
	j.count.all++
	found := j.declared.Found()
	if len(found) == 0 {
		j.r.add(test)
		return nil
	}
	f := found[0]
	return j.found(test, finding{
		source: j.endpoint.String(), rule: declared.ResultFit, level: string(rules.Must), section: "what the peer says of itself",
		method: method, message: "What a method returns fits what the peer says of it. But " + f.Message, sent: brief(params),
	})
}

// mostItems is how many items of a stream are looked at: they may come slowly.
const mostItems = 3

// results makes a call and holds each thing that comes of it against its schema. It
// returns how many there were for which there is one. A stream ends when nothing
// comes for a while.
func (j *judge) results(ctx context.Context, op dialect.Op, method string) (checked int, err error) {
	cl := env.NewDeadline(ctx, 0, j.patience)
	defer cl.Stop()
	st, err := j.conv.Open(cl.Ctx, op)
	if err != nil {
		return 0, env.Cause(cl.Ctx, err)
	}
	defer dialect.CancelAnyway(ctx, st)
	for n := 0; n < mostItems; {
		m, err := st.Next(cl.Ctx)
		if err == io.EOF || err != nil && n > 0 && ctx.Err() == nil && wire.AsFault(context.Cause(cl.Ctx)) != nil {
			return checked, nil
		}
		if err != nil {
			return checked, env.Cause(cl.Ctx, err)
		}
		cl.Touch()
		ev, err := j.conv.Event(m)
		switch {
		case err != nil:
			return checked, err
		case ev.Kind == wire.Failure:
			return checked, ev.Err
		case ev.Kind != wire.Data || m.Kind == wire.Response && !m.Final && op.Kind == dialect.Subscribe:
			continue
		}
		n++
		if j.declared != nil && j.declared.Result(ctx, method, ev.ContentType, ev.Data) {
			checked++
		}
	}
	return checked, nil
}
