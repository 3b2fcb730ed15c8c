package codec

import (
	"slices"

	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// Bridging describes how a bridge offers methods of other dialects in the dialect file's dialect.
func (d *Dialect) Bridging() dialect.Bridging {
	rule := &d.Page.Bridge
	b := dialect.Bridging{Objects: rule.Objects, NoStreams: rule.Whole, Greets: d.Page.Serve.First != "", Told: d.Notifies, Streams: d.opens}
	for _, step := range d.Page.Greet {
		if name := step.Call + step.Notify; name != "" { // the step makes a call or a notification
			b.Own = append(b.Own, name)
		}
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

// opens reports whether a method opens a stream, and whether that stream has no end by the rules of
// the dialect file.
func (d *Dialect) opens(method string) (streams, endless bool) {
	_, rule := d.Subscription(method)
	if rule == nil {
		return false, false
	}
	ends := slices.ContainsFunc(d.Page.Read, func(r load.Read) bool { return r.Kind == "item" && r.Final != nil })
	return true, rule.Until == nil && !ends
}
