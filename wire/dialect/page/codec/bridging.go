package codec

import (
	"encoding/json"
	"slices"

	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// Bridging describes how a bridge offers methods of other dialects in the dialect file's dialect.
func (d *Dialect) Bridging() dialect.Bridging {
	rule := &d.Page.Bridge
	b := dialect.Bridging{Objects: rule.Objects, NoStreams: rule.Whole, Greets: d.Page.Serve.First != "", Told: d.Notifies, Streams: d.opens, Progress: d.Page.Serve.During.Progress != nil}
	for _, step := range d.Page.Greet {
		if name := step.Call + step.Notify; name != "" { // the step makes a call or a notification
			b.Own = append(b.Own, name)
		}
	}
	if d.Page.Call != nil {
		b.Same = d.wrapped
	}
	if d.Page.Cancel != nil {
		b.Cancels = dialect.Always
	}
	if rule.Name != nil {
		b.Name = func(method string) string {
			name, err := rule.Name.First(scan.AppendQuoted(nil, method), (&program.Scope{}).Value)
			if text, ok := scan.Text(name); ok && err == nil && text != "" {
				return text
			}
			return method
		}
	}
	return b
}

// wrapped returns the call that carries a call of method. The bridge does not unwrap its result.
func (d *Dialect) wrapped(method string, params json.RawMessage) (carrier string, same json.RawMessage) {
	if plain, err := d.isPlain(method); plain || err != nil {
		return method, params
	}
	sc := &program.Scope{Method: method, Params: params}
	name, err := d.Page.Call.Method.First(params, sc.Value)
	same, perr := d.Page.Call.Params.First(params, sc.Value)
	if err != nil || perr != nil {
		return method, params
	}
	return scan.String(name), same
}

// opens reports whether a method opens a stream, and whether the dialect file gives that stream no end.
func (d *Dialect) opens(method string) (streams, endless bool) {
	_, rule := d.Subscription(method)
	if rule == nil {
		return false, false
	}
	ends := slices.ContainsFunc(d.Page.Read, func(r load.Read) bool { return r.Kind == "item" && r.Final != nil })
	return true, rule.Until == nil && !ends
}
