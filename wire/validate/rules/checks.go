package rules

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"rpcx/wire/jq"
	"rpcx/wire/schema"
	"rpcx/wire/validate"
)

// checks are functions for conditions that jq cannot check. A check runs on each output of its rule's program, an
// object:
//
//	compiles  {at, schema}: the schema at the place at must be a valid JSON Schema
//	fits      {at, value, schema}: the value at the place at must match the schema
//	message   {at, schema}: the message must match the dialect's schema of that name
//
// The other members of the object become members of each problem.
var checks = map[string]check{"compiles": compiles, "fits": fits, "message": message}

type check func(ctx context.Context, c *Checker, v *view, r *Rule, out any) []validate.Problem

// schemas caches compiled schemas.
type schemas struct {
	dialect  map[string]json.RawMessage // the dialect's schemas by method
	compiled *fifo[*compiled]
}

type compiled struct {
	schema *schema.Schema
	err    error
}

// maxSchemas is the maximum number of cached schemas.
const maxSchemas = 1_000

// of returns the compiled form of a schema.
func (s *schemas) of(text json.RawMessage) *compiled {
	if c := s.compiled.get(string(text)); c != nil {
		return c
	}
	c := &compiled{}
	c.schema, c.err = schema.Compile(text, "", schema.Options{})
	s.compiled.put(string(text), c)
	return c
}

func compiles(_ context.Context, c *Checker, v *view, r *Rule, out any) []validate.Problem {
	m, _ := out.(map[string]any)
	err := c.schemas.of(jq.Encode(m["schema"])).err
	if err == nil {
		return nil
	}
	why, _, _ := strings.Cut(err.Error(), "\n")
	return c.problem(v, r, with(m, map[string]any{"want": "a JSON Schema: " + why}))
}

func fits(ctx context.Context, c *Checker, v *view, r *Rule, out any) []validate.Problem {
	m, _ := out.(map[string]any)
	return c.fit(ctx, v, r, m, c.schemas.of(jq.Encode(m["schema"])), jq.Encode(m["value"]))
}

func message(ctx context.Context, c *Checker, v *view, r *Rule, out any) []validate.Problem {
	m, _ := out.(map[string]any)
	name, _ := m["schema"].(string)
	text, ok := c.schemas.dialect[name]
	if !ok {
		return nil
	}
	return c.fit(ctx, v, r, m, c.schemas.of(text), v.raw)
}

// fit checks value, whose place is in m, and returns the problems. It returns nothing if s does not compile, because
// another rule reports that.
func (c *Checker) fit(ctx context.Context, v *view, r *Rule, m map[string]any, s *compiled, value json.RawMessage) []validate.Problem {
	if s.err != nil {
		return nil
	}
	var bad *schema.Mismatch
	if !errors.As(s.schema.Check(ctx, value), &bad) {
		return nil
	}
	return c.problem(v, r, with(m, map[string]any{"at": pointer(m["at"]) + bad.Pointer, "want": "what the schema requires: " + bad.Message}))
}

// with returns m with the members of other added, and without the members that only the check uses.
func with(m, other map[string]any) map[string]any {
	all := map[string]any{}
	for key, val := range m {
		if key != "schema" && key != "value" {
			all[key] = val
		}
	}
	maps.Copy(all, other)
	return all
}
