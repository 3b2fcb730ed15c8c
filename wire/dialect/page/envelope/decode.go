package envelope

import (
	"strconv"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

var null = []byte("null")

// heads contains those members of one message that the plan reads.
type heads [maxHeads][]byte

// Decode finds the messages in raw and checks that all of raw is JSON. The error is the failure of a program.
func (c *codec) Decode(raw []byte) (msgs []wire.Message, batch bool, err error) {
	if !utf8.Valid(raw) {
		return c.in.Broken(raw, "invalid UTF-8"), false, nil
	}
	batch, err = c.in.Read(raw)
	switch {
	case err == nil:
		return c.in.Msgs, batch, nil
	case wire.AsFault(err) != nil && c.o.Serving:
		return nil, false, program.Failure(err)
	case wire.AsFault(err) != nil:
		return nil, false, err
	}
	return c.in.Broken(raw, err.Error()), false, nil
}

// element reads the message at raw[i] into m. If a program fails, the input is still JSON.
func (c *codec) element(raw []byte, i, depth int, m *wire.Message) (end int, err error) {
	clear(c.heads[:len(c.plan.heads)])
	if i < len(raw) && raw[i] == '{' {
		o := scan.ReadObjectAt(raw, i, depth)
		for key, ok := o.NextKey(); ok; key, ok = o.NextKey() {
			if at := c.head(scan.Unescaped(key)); at >= 0 {
				c.heads[at] = o.Value()
			} else {
				o.Value()
			}
		}
		end, err = o.Pos(), o.Err()
	} else if c.plan.array && i < len(raw) && raw[i] == '[' {
		end, err = c.list(raw, i, depth)
	} else {
		end, err = scan.Value(raw, i, depth)
	}
	if err != nil {
		return 0, err
	}
	return end, c.message(raw[i:end], m)
}

func (c *codec) head(key []byte) int {
	for i, name := range c.plan.heads {
		if name == string(key) {
			return i
		}
	}
	return -1
}

// get returns the value at a place in the message, or nil if there is none.
func (h *heads) get(p place) []byte {
	if p.head < 0 {
		return nil
	}
	return along(h[p.head], p.path[1:])
}

// along returns the value to which a path leads from val, or nil.
func along(val []byte, path []string) []byte {
	for _, step := range path {
		if val = Below(val, step); val == nil {
			return nil
		}
	}
	return val
}

// Below returns a member of an object, or an element of an array if step is its index.
func Below(val []byte, step string) []byte {
	if n, err := strconv.Atoi(step); err == nil && scan.Type(val) == 'a' {
		for part := range scan.Elements(val) {
			if n--; n < 0 {
				return part
			}
		}
		return nil
	}
	return scan.Get(val, step)
}

// is reports whether the message contains all constants in list.
func (h *heads) is(list []constant) bool {
	for _, want := range list {
		if !scan.Equal(h.get(want.place), want.value) {
			return false
		}
	}
	return true
}
