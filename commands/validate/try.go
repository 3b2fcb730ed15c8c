package validate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"rpcx/commands/env"
	"rpcx/format/report"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/validate"
	"rpcx/wire/validate/declared"
)

// A call is a method to call, with a schema to check its results.
type call struct {
	typed  string            // as the user typed it
	params json.RawMessage   // nil means that the schema provides an example
	funcs  map[string]string // the hooks of its functions, by the JSON pointer of their place in params
	hinted bool              // the user did not name the method, but its hints declare it read-only
	absent bool              // the method is not in the catalog, which is complete
}

// given returns the calls of --try. If the dialect has function values, {"@on": NAME} in params is a function.
func (o *validateOptions) given(functions bool) (all []call, err error) {
	for _, text := range o.try {
		name, params, ok := strings.Cut(text, "=")
		c := call{typed: name}
		if ok {
			c.params = scan.Trim([]byte(params))
			if err := scan.Valid(c.params, wire.DefaultMaxDepth); err != nil {
				return nil, wire.Usagef("--try %s: the params are not valid JSON: %v", text, err).WithHint(`write METHOD='{"key":"value"}'`)
			}
			if functions {
				c.funcs = map[string]string{}
				if c.params, err = c.takeFunctions(nil, c.params, ""); err != nil {
					return nil, err
				}
			}
		}
		if name == "" {
			return nil, wire.Usagef("--try %s: the method is missing", text)
		}
		all = append(all, c)
	}
	return all, nil
}

// takeFunctions appends v, the part of the params at pointer, with null for each function. It adds the functions' hooks to c.
func (c *call) takeFunctions(b, v []byte, pointer string) ([]byte, error) {
	hook := scan.Get(v, "@on")
	switch {
	case scan.Type(hook) == 's' && bytes.Equal(scan.Compact(nil, v), scan.Pair("@on", hook)):
		c.funcs[pointer] = scan.String(hook)
		return append(b, "null"...), nil
	case scan.Type(v) != 'o' && scan.Type(v) != 'a':
		return append(b, v...), nil
	}
	return scan.Rebuild(b, v, wire.DefaultMaxDepth, func(b []byte, i int, key, part []byte) ([]byte, error) {
		return c.takeFunctions(b, part, scan.Descend(pointer, i, key))
	})
}

// tries calls the methods that rpcx may call.
func (j *peerChecker) tries(ctx context.Context) error {
	spec := j.endpoint.Spec()
	named := len(j.calls)
	j.hinted()
	for _, c := range j.calls {
		method := c.typed
		if j.catalog.Method(method) == nil {
			method = spec.Names.OnWire(c.typed)
		}
		m := j.catalog.Method(method)
		c.absent = j.lacks(m)
		if m == nil && spec.Names.New != nil && j.hasClass(c.typed) {
			c.typed, c.params = spec.Names.New(c.typed, c.params)
			method, c.absent = c.typed, false
		}
		params := c.params
		if params == nil && m != nil && m.Params != nil {
			params = j.example(m.Params)
		}
		if !c.hinted {
			facts := "try"
			if m != nil && m.Kind == catalog.Job {
				facts = "job"
			}
			j.facts[facts] = append(j.facts[facts], map[string]json.RawMessage{"method": scan.AppendQuoted(nil, method), "params": scan.OrNull(params)})
		}
		if err := j.try(ctx, c, m, params); err != nil {
			return err
		}
	}
	if named == 0 && len(j.calls) == 0 {
		j.skip(declared.ResultFit, "no method is known to be read-only (see --try and --trust-hints)")
	}
	return nil
}

// example returns params made from their schema.
func (j *peerChecker) example(params json.RawMessage) json.RawMessage {
	doc, _ := j.catalog.Marshal()
	made := catalog.ExampleValue(params, doc)
	if kind := scan.Type(made); !j.endpoint.Spec().Params.Scalar && kind != 'o' && kind != 'a' {
		return json.RawMessage("{}") // the schema allows everything, the dialect does not
	}
	return made
}

// lacks reports whether m, the result of a search in the catalog, shows that the peer has no such method.
func (j *peerChecker) lacks(m *catalog.Method) bool {
	return m == nil && j.catalog != nil && j.catalog.WhyPartial() == ""
}

// hasClass reports whether the peer has a class of that name.
func (j *peerChecker) hasClass(name string) bool {
	return j.catalog != nil && slices.ContainsFunc(j.catalog.Classes, func(class json.RawMessage) bool { return scan.String(scan.Get(class, "name")) == name })
}

// hinted adds read-only methods, as declared by the user's own catalog or, if it is trusted, by the peer.
func (j *peerChecker) hinted() {
	if j.catalog == nil {
		return
	}
	for i := range j.catalog.Methods {
		m := &j.catalog.Methods[i]
		if !m.ReadOnly() || slices.ContainsFunc(j.calls, func(c call) bool { return c.typed == m.Name }) {
			continue
		}
		if j.o.catalog == "" && !j.o.trust {
			j.skip(declared.ResultFit+" "+m.Name, "only the peer declares it read-only (--trust-hints)")
			continue
		}
		j.calls = append(j.calls, call{typed: m.Name, hinted: true})
	}
}

// try calls a method and checks its results against its schema. If the peer returns an error, that is a problem only if
// the user gave the params, or if the method does not exist.
func (j *peerChecker) try(ctx context.Context, c call, m *catalog.Method, params json.RawMessage) error {
	method := c.typed
	if m != nil {
		method = m.Name
	}
	test := report.Case{Name: declared.ResultFit + " " + method, Class: j.endpoint.Dialect}
	op := j.operation(c, m, params)
	checked, err := j.results(ctx, op, method)
	switch rpc, ok := errors.AsType[*wire.Error](err); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case ok && c.params == nil && !c.absent && string(rpc.Code) != strconv.Itoa(wire.CodeNoMethod):
		how := "with params generated from its schema"
		if params == nil {
			how = "without params"
		}
		j.skip(test.Name, "it failed "+how+": "+rpc.Error())
		return nil
	case errors.Is(err, errNoItem):
		j.skip(test.Name, "the stream yielded no item within "+j.patience.String()+" (--idle)")
		return nil
	case op.Kind == dialect.JobRun && timedOut(err):
		j.skip(test.Name, "the job did not end within "+j.patience.String()+" (--idle), and was cancelled")
		return nil
	case err != nil:
		return j.r.check(test, j.unfit(method, j.failed(c, err), params))
	case checked == 0:
		j.skip(test.Name, "the catalog does not describe its result")
		return nil
	}
	if found := j.declared.Found(); len(found) > 0 {
		return j.r.check(test, j.unfit(method, found[0].Message, params))
	}
	return j.r.check(test)
}

// failed describes the failure of a call that must succeed.
func (j *peerChecker) failed(c call, err error) string {
	text := "a method given with --try"
	if c.hinted {
		text = "a method that is declared read-only"
	}
	text += " must succeed; " + err.Error()
	if c.absent {
		if near := catalog.DidYouMean(c.typed, j.catalog.Names()); near != "" {
			text += "; " + near
		}
	}
	return text
}

func timedOut(err error) bool {
	f := wire.AsFault(err)
	return f != nil && f.Kind == wire.Timeout
}

// operation returns the operation that calls a method. m describes the method and may be nil.
func (j *peerChecker) operation(c call, m *catalog.Method, params json.RawMessage) dialect.Op {
	op := dialect.Op{Kind: dialect.Call, Method: c.typed, Params: params, Funcs: c.funcs}
	switch spec := j.endpoint.Spec(); {
	case m == nil:
	case m.Kind == catalog.Stream && !spec.Catalog.CallsStream:
		op.Kind = dialect.Subscribe
	case m.Kind == catalog.Job && spec.Jobs != nil:
		op.Kind, op.Extra = dialect.JobRun, json.RawMessage(`{"bare":true}`) // returns only the result, without the report on the end of the job
	}
	return op
}

// unfit returns the problem of a method's result.
func (j *peerChecker) unfit(method, message string, params json.RawMessage) validate.Problem {
	return validate.Problem{
		Source: j.endpoint.String(), Rule: declared.ResultFit, Level: validate.Must, Section: declared.Section,
		Method: method, Pointer: validate.Nowhere, Message: message, Sent: brief(params),
	}
}

// errNoItem is returned for a stream that the peer has accepted and that then yields no item.
var errNoItem = errors.New("no item")

// maxItems bounds the items of a stream to check, because they may arrive slowly.
const maxItems = 3

// results makes a call and checks each result against its schema. It returns how many results had a schema. It reads a
// stream until no message arrives for a while, and waits as long for the end of a job.
func (j *peerChecker) results(ctx context.Context, op dialect.Op, method string) (checked int, err error) {
	whole, idle := time.Duration(0), j.patience
	if op.Kind == dialect.JobRun { // the whole call is limited, not the wait for each message
		whole, idle = j.patience, 0
	}
	cl := env.NewDeadline(ctx, whole, idle)
	defer cl.Stop()
	st, err := j.conv.Open(cl.Ctx, op)
	if err != nil {
		return 0, env.Cause(cl.Ctx, err)
	}
	defer dialect.CancelAnyway(ctx, st)
	accepted := false
	for n := 0; n < maxItems; {
		m, err := st.Next(cl.Ctx)
		if err != nil {
			return checked, ended(ctx, cl.Ctx, err, n, accepted)
		}
		cl.Touch()
		ev, err := dialect.EventOf(j.conv, m)
		if err == nil && ev.Kind == wire.Failure {
			err = ev.Err
		}
		if err != nil {
			return checked, err
		}
		if m.Kind == wire.Response && !m.Final && op.Kind == dialect.Subscribe {
			accepted = true
			continue
		}
		if ev.Kind != wire.Data {
			continue
		}
		n++
		if j.declared.Result(ctx, method, ev.ContentType, ev.Data) {
			checked++
		}
	}
	return checked, nil
}

// ended returns the error of a call that ends with err after a number of items. limited is the context of the call, with
// its deadline. A peer that is silent after the first item, or from the start of a stream that it has accepted, is not at
// fault.
func ended(ctx, limited context.Context, err error, items int, accepted bool) error {
	silent := ctx.Err() == nil && wire.AsFault(context.Cause(limited)) != nil
	switch {
	case err == io.EOF || silent && items > 0:
		return nil
	case silent && accepted:
		return errNoItem
	}
	return env.Cause(limited, err)
}
