package params

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
)

// A Typer applies the schema of one method's params. It matches positional params to the names of their positions. Without
// a schema, there is no Typer: params accept everything, and text stays text.
type Typer struct {
	*schema.Schema
	wraps bool // params may also be the only element of an array
}

// ForMethod returns the Typer for one method of a catalog, or nil without a schema. warn receives a warning for each
// unchecked part and may be nil. An unusable schema is a usage Fault.
func ForMethod(c *catalog.Catalog, conv catalog.Conventions, method string, warn func(text string)) (*Typer, error) {
	if m := c.Method(method); m == nil || m.Params == nil {
		return nil, nil
	}
	s, err := compile(c, method, "params", warn)
	if err != nil {
		return nil, wire.NewFault(wire.Usage, "params of "+method+" in the catalog: "+err.Error(), err)
	}
	return &Typer{Schema: s, wraps: conv.WrappedParams}, nil
}

// ForResult returns the schema of a method's result in a catalog, or nil. It warns about an unusable schema.
func ForResult(c *catalog.Catalog, method string, warn func(text string)) *schema.Schema {
	if m := c.Method(method); m == nil || m.Result == nil {
		return nil
	}
	s, err := compile(c, method, "result", warn)
	if err != nil {
		warn("the result of " + method + " is not checked: " + err.Error())
	}
	return s
}

// compile returns the schema of a part of a method, params or result.
func compile(c *catalog.Catalog, method, part string, warn func(text string)) (*schema.Schema, error) {
	doc, err := c.Marshal()
	if err != nil {
		return nil, err
	}
	var o schema.Options
	if warn != nil {
		o.Warn = func(text string) { warn(part + " of " + method + ": " + text) }
	}
	return schema.Compile(doc, "/methods/"+strconv.Itoa(slices.Index(c.Names(), method))+"/"+part, o)
}

// FuncNames returns the names of the hooks that words pass as function values (key@on=NAME).
func FuncNames(args []string) map[string]bool {
	names := map[string]bool{}
	for _, arg := range args {
		if _, op, name := splitKey(arg); op == "@on=" && name != "" {
			names[name] = true
		}
	}
	return names
}

// Check returns why params do not match, or nil. A call without params has nil params.
func (t *Typer) Check(ctx context.Context, params json.RawMessage) error {
	err := t.Schema.Check(ctx, t.ByName(params))
	if err == nil || !t.wraps {
		return err
	}
	if sole := scan.Only(params); scan.Type(sole) == 'o' {
		return t.Schema.Check(ctx, sole)
	}
	return err
}

// Undescribed returns the members of params that the schema allows but does not describe, if it describes others.
func (t *Typer) Undescribed(params json.RawMessage) []schema.Undescribed {
	params = t.ByName(params)
	if sole := scan.Only(params); t.wraps && scan.Type(sole) == 'o' {
		params = sole
	}
	return t.Schema.Undescribed(params)
}

// check returns a usage Fault for params that do not match, with a correction if possible.
func (p *parser) check(r Result) error {
	if p.o.Typer == nil || p.o.NoCheck {
		return nil
	}
	err := p.checkAround(r)
	switch {
	case err == nil:
		return nil
	case p.ctx.Err() != nil:
		return p.ctx.Err()
	}
	f := misfit(err, "")
	if len(r.Funcs) > 0 {
		return f
	}
	if better := p.repair(r.Params); better != nil {
		f.Err = &ArgError{Args: []string{string(better)}, Err: err}
	}
	return f
}

// reread reads key=text as JSON if err shows that the schema does not allow a string there. Only a check of all params
// shows this if another member selects the alternative of the schema. reread reports whether it changed a value.
func (p *parser) reread(r *Result, err error) bool {
	m, ok := errors.AsType[*schema.Mismatch](err)
	if !ok || m.Rule != "type" {
		return false
	}
	i := slices.Index(p.texts, m.Pointer)
	if i < 0 {
		return false
	}
	p.texts = slices.Delete(p.texts, i, i+1)
	v := retyped(scan.At(r.Params, m.Pointer))
	if v == nil {
		return false
	}
	r.Params = scan.Put(r.Params, m.Pointer, v)
	return true
}

// misfit returns the usage Fault for a value that does not match. It names the place, the rule and the most similar
// valid value.
func misfit(err error, arg string) *wire.Fault {
	subject := "params"
	if arg != "" {
		subject = "parameter " + clip(arg)
	}
	var m *schema.Mismatch
	if !errors.As(err, &m) {
		return wire.NewFault(wire.Usage, subject+": "+err.Error(), &ArgError{Arg: arg, Err: err})
	}
	f := fault(fmt.Sprintf("%s: %s (schema rule %q)", subject, m, m.Rule), arg, "--no-check sends it anyway")
	if m.Rule == "required" && m.Given == "" && m.Value != nil && len(m.Value) <= maxExample {
		f.Hint = "for example " + exampleOf(m, string(scan.AppendQuoted(nil, m.Property))+":"+string(m.Value))
	}
	return f
}

// maxExample bounds the example of a missing value in bytes.
const maxExample = 1000

// dotted returns the user's key for a property of the object at pointer, or "" if no key can name it.
func dotted(pointer, property string) string {
	var key strings.Builder
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			break
		}
		if _, err := strconv.Atoi(token); err == nil || strings.ContainsAny(token, "~.[") {
			return ""
		}
		key.WriteString(token + ".")
	}
	return key.String() + property
}

// exampleOf returns one word that sets the missing property: key=value if possible, else a JSON object. If no word can set
// it, exampleOf returns its member and where it is missing.
func exampleOf(m *schema.Mismatch, member string) string {
	name := dotted(m.Pointer, m.Property)
	text, isText := scan.Text(m.Value)
	switch fits := name != "" && IsKeyOp(name+"=") && len(name) <= 60 && len(m.Value) <= 200; {
	case !fits && m.Pointer != "":
		return member + " in " + m.Pointer
	case !fits:
		return wire.Quote("{" + member + "}")
	case isText:
		return wire.Quote(name + "=" + text)
	}
	return wire.Quote(name + ":=" + string(m.Value))
}

// repair applies the schema's corrections to params until they match. It returns nil if they never do. The result is a
// single bare argument of a fix, because strings from a peer must not become key=value.
func (p *parser) repair(params json.RawMessage) json.RawMessage {
	params = scan.Or(params, json.RawMessage("{}"))
	if scan.Type(params) != 'o' {
		return nil
	}
	for range 8 {
		var m *schema.Mismatch
		err := p.o.Typer.Check(p.ctx, params)
		switch {
		case err == nil && len(params) <= 4096:
			return params
		case !errors.As(err, &m):
			return nil
		}
		val := scan.At(params, m.Pointer)
		better := scan.Or(mend(val, m), retyped(val))
		if better == nil {
			return nil
		}
		params = scan.Put(params, m.Pointer, better)
	}
	return nil
}

// retyped returns a string with the JSON of a value that is not a string as that value, or nil.
func retyped(val json.RawMessage) json.RawMessage {
	text, ok := scan.Text(val)
	v, err := oneValue([]byte(text))
	if !ok || err != nil || scan.Type(v) == 's' {
		return nil
	}
	return v
}

// mend returns val with the correction in a Mismatch, or nil. It does not invent values for missing members.
func mend(val json.RawMessage, m *schema.Mismatch) json.RawMessage {
	switch {
	case m.Given != "":
		return renamed(val, m.Given, m.Property)
	case m.Property != "" && m.Nearest != "":
		return renamed(val, m.Property, m.Nearest)
	case m.Property == "" && val != nil:
		return m.Value
	}
	return nil
}
