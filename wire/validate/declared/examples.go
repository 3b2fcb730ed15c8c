package declared

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// maxExamples is the maximum number of examples that are checked in one catalog.
const maxExamples = 5_000

// Examples checks each example and default in the catalog's schemas against the schema that contains it, and the
// examples of methods (as in OpenRPC) against the schemas of params and result. It returns the number of checks.
func (k *Checker) Examples(ctx context.Context) (n int) {
	for i := range k.catalog.Methods {
		m := &k.catalog.Methods[i]
		for _, place := range places(m, i) {
			if k.schemas[place.pointer] != nil {
				n += k.inside(ctx, m.Name, place.pointer, place.raw, maxExamples-n)
			}
		}
		n += k.ofMethod(ctx, m, "/methods/"+strconv.Itoa(i))
	}
	for _, name := range slices.Sorted(maps.Keys(k.catalog.Defs)) {
		n += k.inside(ctx, "", "/$defs/"+scan.Escape(name), k.catalog.Defs[name], maxExamples-n)
	}
	return n
}

var (
	oneSchema  = []string{"additionalProperties", "unevaluatedProperties", "propertyNames", "items", "additionalItems", "contains", "not", "if", "then", "else"}
	manyByName = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
	manyInList = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
)

func (k *Checker) inside(ctx context.Context, method, pointer string, raw []byte, most int) (n int) {
	if scan.Type(raw) != 'o' || most <= 0 || ctx.Err() != nil {
		return 0
	}
	n += k.own(ctx, method, pointer, raw)
	for _, key := range oneSchema {
		if sub := scan.Get(raw, key); scan.Type(sub) == 'o' {
			n += k.inside(ctx, method, pointer+"/"+key, sub, most-n)
		}
	}
	for _, key := range manyByName {
		for name, sub := range scan.Named(scan.Get(raw, key)) {
			n += k.inside(ctx, method, pointer+"/"+key+"/"+scan.Escape(name), sub, most-n)
		}
	}
	for _, key := range manyInList {
		if list := scan.Get(raw, key); scan.Type(list) == 'a' {
			for i, sub := range scan.Parts(list) {
				n += k.inside(ctx, method, pointer+"/"+key+"/"+i, sub, most-n)
			}
		}
	}
	return n
}

func (k *Checker) own(ctx context.Context, method, pointer string, raw []byte) (n int) {
	check := func(rule, at string, val json.RawMessage) {
		if val == nil {
			return
		}
		n++
		if s := k.compile(method, pointer, raw); s != nil {
			k.fits(ctx, s, rule, method, pointer+at, val)
		}
	}
	check(DefaultFit, "/default", scan.Get(raw, "default"))
	check(ExampleFit, "/example", scan.Get(raw, "example"))
	if list := scan.Get(raw, "examples"); scan.Type(list) == 'a' {
		for i, val := range scan.Parts(list) {
			check(ExampleFit, "/examples/"+i, val)
		}
	}
	return n
}

// ofMethod checks the examples of a method. In OpenRPC, they consist of named params and a result.
func (k *Checker) ofMethod(ctx context.Context, m *catalog.Method, at string) (n int) {
	i := 0
	for example := range scan.Elements(scan.Get(m.Extra, "examples")) {
		here := at + "/extra/examples/" + strconv.Itoa(i)
		i++
		if list := scan.Get(example, "params"); scan.Type(list) == 'a' && m.Params != nil {
			var named scan.Object
			for p := range scan.Elements(list) {
				if name, ok := scan.Text(scan.Get(p, "name")); ok {
					named.Add(name, scan.Get(p, "value"))
				}
			}
			if s := k.compile(m.Name, at+"/params", m.Params); s != nil {
				k.fits(ctx, s, ExampleFit, m.Name, here+"/params", named.End())
				n++
			}
		}
		if val := scan.Get(scan.Get(example, "result"), "value"); val != nil && m.Result != nil {
			if s := k.compile(m.Name, at+"/result", m.Result); s != nil {
				k.fits(ctx, s, ExampleFit, m.Name, here+"/result/value", val)
				n++
			}
		}
	}
	return n
}
