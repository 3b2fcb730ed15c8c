package validate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/format/report"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/validate"
	"rpcx/wire/validate/declared"
)

// declares requests the peer's catalog and checks it. discovery is the method that probes use for this.
func (j *peerChecker) declares(ctx context.Context, discovery string) error {
	given, err := options.LoadCatalog(j.o.catalog)
	if err != nil {
		return err
	}
	j.facts = map[string][]map[string]json.RawMessage{}
	var described *catalog.Catalog
	err = request.WaitReached(ctx, j.run, func() (err error) {
		cl := env.NewDeadline(ctx, 0, j.patience) // each message extends it
		defer cl.Stop()
		j.waiting.Store(cl)
		defer j.waiting.Store(nil)
		described, err = j.conv.Describe(cl.Ctx)
		return env.Cause(cl.Ctx, err)
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case j.shared.HasReceived():
	case j.shared.Ended() != nil:
		return cmp.Or(err, j.shared.Ended())
	case outOfReach(err): // over HTTP, the first exchange shows this
		return err
	}
	switch {
	case err != nil && given == nil:
		j.undescribed(err)
		return nil
	case err == nil && discovery != "":
		j.facts["discovery"] = []map[string]json.RawMessage{{"method": scan.AppendQuoted(nil, discovery)}}
	}
	j.catalog = cmp.Or(given, described)
	j.modules()
	if j.declared, err = declared.New(ctx, j.catalog); err != nil {
		return err
	}
	examples := j.declared.Examples(ctx)
	found := j.declared.Found()
	for _, r := range declared.Rules {
		if r.Name == declared.ResultFit { // try reports its problems
			continue
		}
		if err := j.rule(r.Name, "catalog", found); err != nil {
			return err
		}
	}
	j.run.Verbose(fmt.Sprintf("the peer offers %s, with %s", wire.Count(len(j.catalog.Methods), "method"), wire.Count(examples, "example")))
	return nil
}

// outOfReach reports whether err means that rpcx could not reach the peer, or is of one of the other kinds.
func outOfReach(err error, others ...wire.FaultKind) bool {
	f := cmdline.Worst(err)
	return f != nil && (f.Unreached || slices.Contains(append(others, wire.Unreachable, wire.Auth), f.Kind))
}

// undescribed skips the rules about the peer's own catalog.
func (j *peerChecker) undescribed(err error) {
	why := "the peer has no catalog"
	if !errors.Is(err, wire.ErrUnsupported) {
		why += ": " + err.Error()
	}
	for _, r := range declared.Rules {
		if r.Name != declared.ResultFit {
			j.skip(r.Name, why)
		}
	}
}

// modules finds the peer's modules, if it has any, for the probes.
func (j *peerChecker) modules() {
	discovery := j.endpoint.Spec().Discovery
	if !discovery.ByModule() {
		return
	}
	var seen []string
	for _, m := range j.catalog.Methods {
		name := discovery.Module(m.Name)
		if slices.Contains(seen, name) || name == "" {
			continue
		}
		seen = append(seen, name)
		j.facts["module"] = append(j.facts["module"], map[string]json.RawMessage{
			"module": scan.AppendQuoted(nil, name), "nomethod": scan.AppendQuoted(nil, strings.TrimSuffix(m.Name, strings.TrimPrefix(m.Name, name))+"_rpcxvalidatenone"),
		})
	}
}

// rule reports those of all problems that violate one rule. kind is the kind of the rule.
func (j *peerChecker) rule(name, kind string, all []validate.Problem) error {
	if slices.Contains(j.o.disable, name) {
		j.skip(name, "--disable")
		return nil
	}
	var found []validate.Problem
	for _, p := range all {
		if p.Rule == name {
			p.Source, p.Warning = j.endpoint.String(), j.r.warns(p.Level)
			found = append(found, p)
		}
	}
	return j.r.check(report.Case{Name: name, Class: j.endpoint.Dialect + " " + kind}, found...)
}
