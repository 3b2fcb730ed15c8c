package page

import (
	"cmp"
	"maps"
	"slices"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/dialect/page/codec"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/server"
	"rpcx/wire/toml"
)

// Spec returns the row for a dialect file in the table of dialects.
func (l *Library) Spec(p *load.Page) (dialect.Spec, error) {
	flow := l.Flows[p.Flow]
	d, err := codec.New(p, codec.Native{Notification: flow.Notification, Open: flow.Client})
	if err != nil {
		return dialect.Spec{}, err
	}
	spec := dialect.Spec{
		Name:          p.Name,
		NewCodec:      d.NewCodec,
		NewServer:     func(b dialect.Backend) dialect.Server { return server.New(d, b, flow.Server) },
		Shape:         func() dialect.Shape { return shape(p, d, flow) },
		JSONRPCMember: p.Base == "jsonrpc" && p.Names == nil,
		Transport: dialect.Transport{
			Framing:      p.Framing,
			Subprotocols: p.Subprotocols,
			Sessions:     d.Sessions(),
			HTTPName:     wire.HTTPName{Header: p.HTTP.Session, Again: p.HTTP.Again},
		},
		Params:     dialect.Params{Typed: p.Typed, Settings: settings(p)},
		Validation: dialect.Validation{Rules: l.rules(p), Probes: probes(p)},
		Bridge:     d.Bridging(),
		Handshake:  dialect.Handshake{Introduces: true, Rounds: flow.Rounds, Unchanged: flow.Unchanged},
		Discovery:  &dialect.Discovery{Missing: "its dialect file has no [[describe]]"},
		Jobs:       flow.Jobs,
		Files:      flow.Files,
	}
	spec.Discovery.Answers = slices.AppendSeq(slices.Collect(maps.Keys(p.Serve.Answers)), maps.Keys(p.Serve.Calls))
	spec.Transport.Resolve, spec.Transport.Posts = codec.Resolve(p)
	if n := p.Names; n != nil {
		spec.Transport.Sentinel, spec.Params.Scalar = n.Sentinel, n.Params != ""
	}
	if p.Detect != nil || p.Probe != nil {
		spec.Detection = detection(p)
	}
	if p.Text != (load.Text{}) {
		spec.Transport.Around = wire.NewAround(p.Text.Before, p.Text.After)
	}
	if p.Eval != nil {
		spec.Evaluation = &dialect.Evaluation{}
	}
	return spec, nil
}

// detection describes how to detect servers of the dialect.
func detection(p *load.Page) *dialect.Detection {
	out := &dialect.Detection{}
	if d := p.Detect; d != nil {
		out.First, out.Unless, out.Instead = d.First, d.Unless, d.Instead
		if r := d.Refusal; r != nil {
			out.Refusal = &dialect.Refusal{Method: r.Method, Error: r.Error, Hint: r.Hint}
		}
	}
	if pr := p.Probe; pr != nil {
		out.Probe = &dialect.Probe{Is: pr.Is.Text(), Session: pr.Session, Lists: pr.Lists, Hooks: pr.Hooks}
		if pr.Send != nil {
			out.Probe.Send = pr.Send.Text()
		}
	}
	return out
}

// settings returns the values that users can set: the members in names.extra, and the handshake's values in [set].
func settings(p *load.Page) (all []dialect.Setting) {
	var members []string
	if p.Names != nil {
		members = p.Names.Extra
	}
	for _, name := range members {
		all = append(all, dialect.Setting{Name: name, Type: cmp.Or(p.Set[name], "any"), Says: "a member of each request"})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Set)) {
		if !slices.Contains(members, name) {
			all = append(all, dialect.Setting{Name: name, Type: p.Set[name], Handshake: true})
		}
	}
	return all
}

// rules returns the dialect file's rules as TOML for wire/validate/rules. Without [rules], it returns those of the base,
// or none if the dialect file renames members or changes the form of messages.
func rules(p *load.Page) string {
	set := map[string]any{"page": cmp.Or(p.Source, p.Name)}
	if p.Base != "none" {
		set["base"] = p.Base
	}
	maps.Copy(set, p.Rules)
	b, err := toml.Encode(set)
	if err != nil || p.Rules == nil && (p.Base == "none" || renamed(p)) {
		return ""
	}
	return string(b)
}

// renamed reports whether a dialect file's messages differ in form from the messages of its base.
func renamed(p *load.Page) bool {
	if p.Names == nil || len(p.Read) > 0 {
		return len(p.Read) > 0
	}
	n := p.Names
	return slices.ContainsFunc([]string{
		n.Request.Method, n.Request.Params, n.Request.ID, n.Response.ID, n.Response.Result, n.Response.Error, n.Event.Method, n.Event.Params,
	}, func(name string) bool { return name != "" })
}

// shape describes the dialect file's messages for tapes.
func shape(p *load.Page, d *codec.Dialect, flow Flow) dialect.Shape {
	v := jsonrpc.V2
	if p.Base != "jsonrpc" {
		v = jsonrpc.V1
	}
	s := jsonrpc.Shape(v)
	s.Polls, s.MadeUp = flow.Polls, append(s.MadeUp, flow.MadeUp...)
	for _, sub := range p.Subscribe {
		if sub.End != nil && cmp.Or(sub.End.Call, sub.End.Method) != "" {
			s.EndsNamed = append(s.EndsNamed, cmp.Or(sub.End.Call, sub.End.Method))
		}
	}
	plan := d.Plan()
	if plan == nil {
		return s
	}
	if n := p.Names; n != nil {
		s.Method, s.ID = cmp.Or(n.Request.Method, s.Method), cmp.Or(n.Request.ID, s.ID)
		if n.Event.Method != s.Method {
			s.Event = n.Event.Method
		}
	}
	s.MadeUp = append(s.MadeUp, dialect.Places(plan.IDs()...)...)
	s.Unnumbered = plan.Unnumbered()
	if own := plan.Shape(); own != nil && p.Base == "none" { // otherwise the messages have the form of the base, whose rules apply
		s.Own, s.Arrays = own, plan.Array()
		s.Error, s.Ended = plan.Templates()
	}
	return s
}

// unsaid are probes for which most protocols that have a dialect file specify no answer.
var unsaid = []any{"batch", "batch-empty", "batch-invalid", "batch-of-notifications", "params-by-position", "bad-params", "discovery-bad-params"}

// probes returns the probes of rpcx validate for a peer: those of the base, or none if the dialect file has no [rules] and its messages
// differ in form. It excludes probes that send batches or positional params, which most such protocols lack, and probes that call METHOD,
// which a dialect file may wrap. An embedded dialect file without a base has its probes in a separate file.
func probes(p *load.Page) string {
	if text, err := embedded.ReadFile("probes/" + p.Name + ".toml"); err == nil && p.Rules == nil {
		return string(text)
	}
	if p.Base == "none" || p.Rules == nil && renamed(p) {
		return ""
	}
	own, _ := p.Rules["except"].([]any) // these may name probes
	text, err := toml.Encode(map[string]any{"base": p.Base, "except": slices.Concat(unsaid, own)})
	if err != nil {
		return ""
	}
	return string(text)
}
