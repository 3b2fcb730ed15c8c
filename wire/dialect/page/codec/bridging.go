package codec

import (
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// Bridging says how methods of other dialects are offered in the page's.
func (d *Dialect) Bridging() dialect.Bridging {
	rule := &d.Page.Bridge
	b := dialect.Bridging{Objects: rule.Objects, NoStreams: rule.Whole, Greets: d.Page.Serve.First != "", Told: d.Notifies}
	for _, step := range d.Page.Greet {
		if name := step.Call + step.Notify; name != "" { // it has one of them
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
