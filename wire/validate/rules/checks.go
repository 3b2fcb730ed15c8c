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

type compiled struct {
	schema *schema.Schema
	err    error
}

// maxSchemas is the maximum number of cached schemas.
const maxSchemas = 1_000

// schema returns the compiled form of a schema, which is stored under name. text returns its text, or nil if there is no such schema.
func (c *Checker) schema(name string, text func() json.RawMessage) *compiled {
	s := c.schemas.get(name)
	if s != nil {
		return s
	}
	if raw := text(); raw != nil {
		s = &compiled{}
		s.schema, s.err = schema.Compile(raw, "", schema.Options{})
		c.schemas.put(name, s)
	}
	return s
}

// declared returns the schema in the output of a program.
func (c *Checker) declared(m map[string]any) *compiled {
	text := jq.Encode(m["schema"])
	return c.schema(string(text), func() json.RawMessage { return text })
}

func compiles(_ context.Context, c *Checker, v *view, r *Rule, out any) []validate.Problem {
	m, _ := out.(map[string]any)
	err := c.declared(m).err
	if err == nil {
		return nil
	}
	why, _, _ := strings.Cut(err.Error(), "\n")
	return c.problem(v, r, with(m, map[string]any{"want": "a JSON Schema: " + why}))
}

func fits(ctx context.Context, c *Checker, v *view, r *Rule, out any) []validate.Problem {
	m, _ := out.(map[string]any)
	return c.fit(ctx, v, r, m, c.declared(m), jq.Encode(m["value"]))
}

func message(ctx context.Context, c *Checker, v *view, r *Rule, out any) []validate.Problem {
	m, _ := out.(map[string]any)
	name, _ := m["schema"].(string)
	s := c.schema("message "+name, func() json.RawMessage { return c.texts()[name] })
	return c.fit(ctx, v, r, m, s, v.raw)
}

// fit checks value, whose place is in m, and returns the problems. It returns nothing if s is nil, or if s does not compile, because
// another rule reports that.
func (c *Checker) fit(ctx context.Context, v *view, r *Rule, m map[string]any, s *compiled, value json.RawMessage) []validate.Problem {
	if s == nil || s.err != nil {
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
