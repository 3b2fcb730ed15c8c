package session

import (
	"slices"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/ro"
	"rpcx/wire/hook"
)

func roSpec() Spec {
	return Spec{
		Name:      "ro",
		NewCodec:  func(_ Endpoint, o wire.Options) dialect.Codec { return ro.NewCodec(ro.Options{MaxDepth: o.MaxDepth}) },
		NewServer: ro.NewServer,
		Versioned: true,
		HookName:  ro.Name,
		WireName:  ro.WireName,
		Method:    ro.Method,
		Respell:   ro.Respell,
		Lingers:   true,
		Later:     true,
		Jobs:      OwnJobs,
		CheckName: ro.CheckName,
	}
}

// hookName is what hooks call a method of the wire.
func (s Spec) hookName(method string) string {
	if s.HookName == nil {
		return method
	}
	return s.HookName(method)
}

// names are patterns of methods as hooks and policies have them.
func (s Spec) names(patterns []string) []string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = s.hookName(p)
	}
	return out
}

// hooks are entries under the names that this dialect gives them.
func (s Spec) hooks(entries []hook.Entry) []hook.Entry {
	out := slices.Clone(entries)
	for i := range out {
		out[i].Pattern = s.hookName(out[i].Pattern)
	}
	return out
}
