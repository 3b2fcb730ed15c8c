package codec

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"rpcx/wire"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/scan"
)

// keepTold keeps what the page says of a notification of the server.
func (c *Codec) keepTold(m *wire.Message) error {
	if len(c.d.Page.Keep) == 0 || c.o.Serving {
		return nil
	}
	return c.keepOf(c.d.Page.Keep[m.Method], m.Params)
}

// keepOf keeps the outputs of programs on in, by their names.
func (c *Codec) keepOf(programs map[string]load.Prog, in json.RawMessage) error {
	if len(programs) == 0 {
		return nil
	}
	sc := c.Scope()
	var more scan.Object
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		val, err := programs[name].First(in, sc.Value)
		if err != nil {
			return err
		}
		if val == nil {
			val = null
		}
		more.Add(name, bytes.Clone(val))
	}
	c.Keep(more.End())
	return nil
}
