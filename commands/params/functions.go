package params

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"rpcx/wire/schema"
)

// aside are the rules by which a value is judged without a look at what its
// members are.
var aside = []string{
	"required", "dependentRequired", "additionalProperties", "unevaluatedProperties", "propertyNames",
	"minProperties", "maxProperties", "minItems", "maxItems", "type",
}

// standIns are what stands for a function where params are checked, in turn.
var standIns = []string{`{}`, `""`, `0`, `[]`, `true`, `null`}

// checkAround checks params that hold functions. What a schema has to say of a
// function is for the peers to know: what is said against its stand-in, or may be
// on account of it, counts for nothing, but may hide what counts.
func (p *parser) checkAround(r Result) error {
	for _, val := range standIns {
		root := fromJSON(r.Params)
		for at := range r.Funcs {
			*root.at(at) = node{raw: json.RawMessage(val)}
		}
		err := p.o.Typer.Check(root.append(nil))
		if err == nil || !excused(err, r.Funcs) {
			return err
		}
	}
	return nil
}

// excused says that err may be about one of the functions.
func excused(err error, funcs map[string]string) bool {
	var m *schema.Mismatch
	if !errors.As(err, &m) {
		return false
	}
	for at := range funcs {
		inside := strings.HasPrefix(m.Pointer+"/", at+"/")
		around := strings.HasPrefix(at+"/", m.Pointer+"/")
		if inside || around && !slices.Contains(aside, m.Rule) {
			return true
		}
	}
	return false
}
