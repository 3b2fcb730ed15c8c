package envelope

import "rpcx/wire/scan"

// unstyled returns the params of a received message in the form for hooks. told reports that the message is an event.
func (c *codec) unstyled(method string, params, raw []byte, consts []constant, told bool) []byte {
	return c.plan.named(method, c.shaped(params, raw, consts, told))
}

func (c *codec) shaped(params, raw []byte, consts []constant, told bool) []byte {
	switch c.plan.names.Params {
	case "one":
		if only := scan.Only(params); only != nil && scan.Type(params) == 'a' {
			return only
		}
	case "prefixed":
		return rest(params)
	case "flat":
		if told && !c.plan.flatTold {
			return params
		}
		names := c.plan.names.Extra
		for _, p := range []place{c.plan.request.method, c.plan.request.id, c.plan.event.method} {
			if p.head >= 0 {
				names = append(names[:len(names):len(names)], p.path[0])
			}
		}
		for _, k := range consts {
			names = append(names[:len(names):len(names)], k.path[0])
		}
		return scan.Without(raw, names...)
	}
	return params
}

// rest returns the elements after the method in an array that begins with it, or nil.
func rest(list []byte) []byte {
	if scan.Type(list) != 'a' {
		return nil
	}
	l := scan.AppendArray(nil)
	n := 0
	for val := range scan.Elements(list) {
		if n > 0 {
			l.Add(val)
		}
		n++
	}
	if n < 2 {
		return nil
	}
	return l.End()
}
