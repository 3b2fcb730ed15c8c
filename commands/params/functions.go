package params

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"rpcx/wire/scan"
	"rpcx/wire/schema"
)

// shallowRules lists the rules that check a value but not its members.
var shallowRules = []string{
	"required", "dependentRequired", "additionalProperties", "unevaluatedProperties", "propertyNames",
	"minProperties", "maxProperties", "minItems", "maxItems", "type",
}

// standIns are the values that replace a function during a check.
var standIns = []string{`{}`, `""`, `0`, `[]`, `true`, `null`}

// checkAround checks params, which may contain functions. JSON Schema cannot describe a function, so checkAround ignores
// mismatches that may be about a stand-in. It tries several stand-ins, because such a mismatch may hide a real one.
func (p *parser) checkAround(r Result) error {
	for _, val := range standIns {
		params := r.Params
		for at := range r.Funcs {
			params = scan.Put(params, at, json.RawMessage(val))
		}
		err := p.o.Typer.Check(p.ctx, params)
		if err == nil || !excused(err, r.Funcs) {
			return err
		}
	}
	return nil
}

// excused reports whether err may be about one of the functions.
func excused(err error, funcs map[string]string) bool {
	m, ok := errors.AsType[*schema.Mismatch](err)
	if !ok {
		return false
	}
	for at := range funcs {
		inside := strings.HasPrefix(m.Pointer+"/", at+"/")
		around := strings.HasPrefix(at+"/", m.Pointer+"/")
		if inside || around && !slices.Contains(shallowRules, m.Rule) {
			return true
		}
	}
	return false
}
