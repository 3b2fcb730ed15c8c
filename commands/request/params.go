package request

import (
	"context"
	"encoding/json"
	"os"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/params"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
)

// FillParams reads the arguments after METHOD into op, typed by cat where that is
// not nil.
func FillParams(ctx context.Context, a *env.Env, e endpoint.Endpoint, op *dialect.Op, args []string, p options.Params, cat *catalog.Catalog) error {
	spec := e.Spec()
	if err := CheckName(a, e, op.Method, op.Kind == dialect.Subscribe, p); err != nil {
		return err
	}
	if p.Style != "" {
		if spec.ParamStyles == nil {
			return a.Line.Usage("--params-style: %s has one way to send params", spec.Name)
		}
		op.Extra = json.RawMessage(`{"params_style":"` + p.Style + `"}`)
	}
	r, err := readParams(ctx, a, e, op.Method, args, p, cat)
	op.Params, op.Funcs = r.Params, r.Funcs
	return err
}

// readParams reads the arguments after METHOD. A schema that cannot be used is the
// user's error if he gave the catalog; if the peer told it, the params are left
// unchecked with a warning.
func readParams(ctx context.Context, a *env.Env, e endpoint.Endpoint, method string, args []string, p options.Params, cat *catalog.Catalog) (params.Result, error) {
	po := params.Options{
		NoCheck: p.NoCheck, Stdin: env.Stdin(ctx), ReadFile: os.ReadFile, Funcs: e.Spec().FunctionValues, Value: e.Spec().ScalarParams,
	}
	if cat != nil {
		method = e.Spec().OnWire(method)
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
	r, err := params.Parse(args, po)
	if err == nil && p.Style == "positional" {
		r.Params = params.Positional(r.Params, po.Typer)
	}
	return r, suggestParams(a.Line, err)
}
