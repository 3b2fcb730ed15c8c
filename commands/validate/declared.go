package validate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/format/report"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/validate/declared"
	"rpcx/wire/validate/rules"
)

// The rules about what a peer says of itself, and where each is written.
var declaredRules = []struct {
	name, sentence string
	level          rules.Level
}{
	{declared.Compiles, "A schema that the peer tells can be used.", rules.Must},
	{declared.Resolves, "All of a schema that the peer tells can be used.", rules.Should},
	{declared.ExampleFit, "An example fits its schema.", rules.Should},
	{declared.DefaultFit, "A default fits its schema.", rules.Should},
}

// declaredNames are the names of the rules about what a peer says of itself.
var declaredNames = []string{declared.Compiles, declared.Resolves, declared.ExampleFit, declared.DefaultFit, declared.ResultFit}

// declares asks the peer for its catalog and checks that against itself.
// discovery is the method with which probes do so.
func (j *peerChecker) declares(ctx context.Context, discovery string) error {
	given, err := options.LoadCatalog(j.o.catalog)
	if err != nil {
		return err
	}
	j.facts = map[string][]map[string]json.RawMessage{}
	said, err := j.describe(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case j.shared.Ended() != nil && !j.shared.Spoke(): // nobody answers
		return cmp.Or(err, j.shared.Ended())
	case err != nil && given == nil:
		why := "the peer does not say what it offers"
		if !errors.Is(err, wire.ErrUnsupported) {
			why += ": " + err.Error()
		}
		for _, name := range declaredNames[:len(declaredNames)-1] {
			j.skip(name, why)
		}
		return nil
	case err == nil && discovery != "":
		j.facts["discovery"] = []map[string]json.RawMessage{{"method": scan.AppendQuoted(nil, discovery)}}
	}
	j.catalog = said
	if given != nil {
		j.catalog = given
	}
	j.modules()
	if j.declared, err = declared.New(j.catalog); err != nil {
		return err
	}
	examples := j.declared.Examples(ctx)
	found := j.declared.Found()
	for _, r := range declaredRules {
		if err := j.declaredRule(r.name, r.sentence, r.level, found); err != nil {
			return err
		}
	}
	j.run.Verbose(fmt.Sprintf("the peer offers %s, with %s", count(len(j.catalog.Methods), "method"), count(examples, "example")))
	return nil
}

// describe asks the peer for its catalog. It waits as long as messages come.
func (j *peerChecker) describe(ctx context.Context) (*catalog.Catalog, error) {
	cl := env.NewDeadline(ctx, 0, j.patience)
	defer cl.Stop()
	j.waiting.Store(cl)
	defer j.waiting.Store(nil)
	c, err := j.conv.Describe(cl.Ctx)
	return c, env.Cause(cl.Ctx, err)
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

// declaredRule reports the findings of one rule.
func (j *peerChecker) declaredRule(name, sentence string, level rules.Level, all []declared.Finding) error {
	if slices.Contains(j.o.disable, name) {
		j.skip(name, "--disable")
		return nil
	}
	j.count.all++
	c := report.Case{Name: name, Class: j.endpoint.Dialect + " catalog"}
	warning := level == rules.Should && !j.o.strict
	var found []finding
	for _, f := range all {
		if f.Rule == name {
			found = append(found, finding{
				source: j.endpoint.String(), rule: name, level: string(level), section: "what the peer says of itself", method: f.Method,
				pointer: f.Pointer, whole: true, message: sentence + " But " + f.Message, warning: warning,
			})
		}
	}
	return j.found(c, found...)
}
