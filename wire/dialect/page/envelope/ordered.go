package envelope

import (
	"encoding/json"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// order returns the names of a method's parameters in the order of the array, or nil. An exact name precedes patterns.
func (c *Plan) order(method string) []string {
	all := c.names.Order
	if names, ok := all[method]; ok || len(all) == 0 {
		return names
	}
	for _, pattern := range c.patterns {
		if dialect.Matches(pattern, method) {
			return all[pattern]
		}
	}
	return nil
}

// ordered converts params in an object to an array in the order that names.order defines. A missing parameter becomes null if others
// follow. Params that are not an object, and params of other methods, stay unchanged.
func (c *Plan) ordered(method string, params json.RawMessage) (json.RawMessage, error) {
	names := c.order(method)
	if names == nil || scan.Type(params) != 'o' {
		return params, nil
	}
	for name := range scan.Named(params) {
		if !slices.Contains(names, name) {
			return nil, wire.Usagef("%s has no parameter %s; its parameters are %s", wire.Quote(method), wire.Quote(name), strings.Join(names, ", "))
		}
	}
	list, missing := scan.AppendArray(nil), 0
	for _, name := range names {
		val := scan.Get(params, name)
		if val == nil {
			missing++
			continue
		}
		for ; missing > 0; missing-- {
			list.Add(null)
		}
		list.Compact(val)
	}
	return list.End(), nil
}

// named converts params in an array to an object with the names in names.order.
func (c *Plan) named(method string, params []byte) []byte {
	names := c.order(method)
	if names == nil || scan.Type(params) != 'a' {
		return params
	}
	var o scan.Object
	for val := range scan.Elements(params) {
		if len(names) == 0 {
			return params // the array has more elements than names.order has names
		}
		o.Add(names[0], val)
		names = names[1:]
	}
	return o.End()
}
