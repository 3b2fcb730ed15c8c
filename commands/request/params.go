package request

import (
	"context"
	"os"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/params"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// FillParams reads the arguments after METHOD into op, typed by cat where that is
// not nil.
func FillParams(ctx context.Context, a *env.Env, e endpoint.Endpoint, op *dialect.Op, args []string, p options.Params, cat *catalog.Catalog) error {
	spec := e.Spec()
	if err := CheckName(a, e, op.Method, op.Kind == dialect.Subscribe, p); err != nil {
		return err
	}
	if p.Style != "" && spec.ParamStyles == nil {
		return a.Line.Usage("--params-style: %s has one way to send params", spec.Name)
	}
	if spec.ParamStyles != nil {
		var extra scan.Object
		extra.SomeText("params_style", p.Style)
		if verbatim(spec, op.Method, cat) {
			extra.Bool("verbatim", true)
		}
		op.Extra = extra.EndOrNil()
	}
	r, err := readParams(ctx, a, e, op.Method, args, p, cat)
	op.Params, op.Funcs = r.Params, r.Funcs
	return err
}

// verbatim reports whether a method that the dialect would spell in another way is
// sent as it was typed: the peer lists it so.
func verbatim(spec dialect.Spec, method string, cat *catalog.Catalog) bool {
	return spec.OnWire(method) != method && cat.Method(method) != nil
}

// readParams reads the arguments after METHOD. A schema that cannot be used is the
// user's error if he gave the catalog; if the peer told it, the params are left
// unchecked with a warning.
func readParams(ctx context.Context, a *env.Env, e endpoint.Endpoint, method string, args []string, p options.Params, cat *catalog.Catalog) (params.Result, error) {
	po := params.Options{
		NoCheck: p.NoCheck, Stdin: env.Stdin(ctx), ReadFile: os.ReadFile, Funcs: e.Spec().FunctionValues, Value: e.Spec().ScalarParams,
	}
	if cat != nil {
		if cat.Method(method) == nil {
			method = e.Spec().OnWire(method)
		}
		typer, err := params.ForMethod(cat, Conventions(cat), method, a.Console.Warn)
		switch {
		case err != nil && p.Catalog == "" && cat.Method(method) != nil: // the peer's mistake is not the user's
			a.Console.Warn(err.Error() + ": left unchecked")
		case err != nil:
			return params.Result{}, suggestMethod(a, err, method, cat)
		default:
			po.Typer = typer
		}
	}
	r, err := params.Parse(ctx, args, po)
	if ctx.Err() != nil && err != nil {
		return r, env.Cause(ctx, err)
	}
	if err == nil {
		noteTypos(a, method, r.Undescribed)
	}
	if err == nil && p.Style == "positional" {
		r.Params = params.Positional(r.Params, po.Typer)
	}
	return r, suggestParams(a.Line, err)
}
