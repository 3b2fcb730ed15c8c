package request

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/params"
	"rpcx/commands/suggest"
	"rpcx/format"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
)

// FillParams parses the arguments after METHOD into op. cat types them and may be nil. It returns the
// parameters that the schema allows but does not describe.
func FillParams(ctx context.Context, run *env.Env, e endpoint.Endpoint, op *dialect.Op, args []string, p options.Params, cat *catalog.Catalog) ([]schema.Undescribed, error) {
	spec := e.Spec()
	if err := CheckName(run, e, op.Method, op.Kind == dialect.Subscribe, p); err != nil {
		return nil, err
	}
	r, err := readParams(ctx, run, e, op.Method, args, p, cat)
	op.Params, op.Funcs = r.Params, r.Funcs
	Style(spec, p, op)
	if spec.Names.OnWire(op.Method) != op.Method && cat.Method(op.Method) != nil { // the peer lists the method as typed
		op.Extra = scan.Splice([]byte(cmp.Or(string(op.Extra), "{}")), "verbatim", []byte("true"))
	}
	return r.Undescribed, err
}

// Style converts the params of op to the form of --params-style. For "object", it prevents codecs from changing that
// form.
func Style(spec dialect.Spec, p options.Params, op *dialect.Op) {
	switch {
	case p.Style == "" || spec.Params.Styles == nil || p.Style == spec.Params.Styles[0]:
	case p.Style == "object":
		op.Extra = scan.Pair("params_style", []byte(`"object"`))
	case scan.Type(op.Params) == 'o' && p.Style == "wrapped":
		op.Params = scan.ArrayOf(op.Params)
	case scan.Type(op.Params) == 'o': // without a schema the values keep their order
		op.Params = params.Positional(op.Params, nil)
	}
}

// readParams parses the arguments after METHOD. An unusable schema is a usage error in the user's catalog. In the
// peer's catalog, it causes a warning and disables the check.
func readParams(ctx context.Context, run *env.Env, e endpoint.Endpoint, method string, args []string, p options.Params, cat *catalog.Catalog) (params.Result, error) {
	po := params.Options{
		NoCheck: p.NoCheck, Stdin: env.Stdin(ctx), ReadFile: os.ReadFile, Funcs: e.Spec().Params.Functions, Value: e.Spec().Params.Scalar,
	}
	if cat != nil {
		if cat.Method(method) == nil {
			method = e.Spec().Names.OnWire(method)
		}
		var err error
		po.Typer, err = params.ForMethod(cat, Conventions(cat), method, run.Console.Warn)
		switch {
		case err != nil && p.Catalog == "": // the peer's schema is unusable
			run.Console.Warn(err.Error() + ": left unchecked")
		case err != nil:
			return params.Result{}, err
		}
	}
	r, err := params.Parse(ctx, args, po)
	if ctx.Err() != nil && err != nil {
		return r, env.Cause(ctx, err)
	}
	if err == nil && p.Style == "positional" {
		r.Params = params.Positional(r.Params, po.Typer)
	}
	return r, suggest.Params(run.Line, err)
}

// WarnTypos warns about undescribed parameters that are probably misspelt.
func WarnTypos(run *env.Env, method string, names []schema.Undescribed) {
	for _, n := range names {
		if text := Misspelt(method, n); text != "" {
			run.Console.Warn(text)
		}
	}
}

// Misspelt returns the warning about an undescribed parameter, or "" if no described name is similar.
func Misspelt(method string, n schema.Undescribed) string {
	if n.Nearest == "" {
		return ""
	}
	return fmt.Sprintf("%s has no parameter %q, but accepts it; did you mean %s?",
		format.CleanLine(method), n.Name, format.CleanLine(n.Nearest))
}
