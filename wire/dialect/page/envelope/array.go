package envelope

import (
	"strconv"

	"rpcx/wire/scan"
)

// maxIndex bounds the array indexes in a dialect file.
const maxIndex = 255

// index returns the array index in a step of a path, or -1 if the step is a name.
func index(step string) int {
	if step == "" || step[0] < '0' || step[0] > '9' {
		return -1
	}
	n, err := strconv.Atoi(step)
	if err != nil {
		return -1
	}
	return n
}

// list reads a message that is an array, at raw[i].
func (c *codec) list(raw []byte, i, depth int) (end int, err error) {
	l := scan.ReadArrayAt(raw, i, depth)
	n := 0
	for _, ok := l.NextKey(); ok; _, ok = l.NextKey() {
		val := l.Value()
		for at, name := range c.plan.heads {
			if index(name) == n {
				c.heads[at] = val
			}
		}
		n++
	}
	return l.Pos(), l.Err()
}

// elements returns an array of the parts, whose paths begin with array indexes. Missing elements are null.
func elements(parts []part) []byte {
	last := -1
	for _, p := range parts {
		if len(p.path) > 0 && len(p.val) > 0 {
			last = max(last, index(p.path[0]))
		}
	}
	var l scan.Array
	for n := range last + 1 {
		l.Compact(element(parts, n))
	}
	return l.End()
}

// element returns the value at index n of an array of the parts.
func element(parts []part, n int) []byte {
	for i, p := range parts {
		switch {
		case len(p.path) == 0 || len(p.val) == 0 || index(p.path[0]) != n:
		case len(p.path) == 1:
			return p.val
		default:
			return nested(parts[i:], p.path[0])
		}
	}
	return null
}

// unstyled converts the params of a received message to the form for hooks. notified means that the message is a
// notification.
func (c *codec) unstyled(method string, params, raw []byte, consts []constant, notified bool) []byte {
	return c.plan.named(method, c.shaped(params, raw, consts, notified))
}

func (c *codec) shaped(params, raw []byte, consts []constant, notified bool) []byte {
	switch c.plan.names.Params {
	case "one":
		if only := scan.Only(params); only != nil && scan.Type(params) == 'a' {
			return only
		}
	case "prefixed": // the first element is the method
		if all := scan.List(params); len(all) > 1 {
			return scan.ArrayOf(all[1:]...)
		}
		return nil
	case "flat":
		if notified && !c.plan.flatEvents {
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
