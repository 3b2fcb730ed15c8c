package envelope

import (
	"strconv"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
)

var null = []byte("null")

// heads contains those members of one message that the plan reads.
type heads [maxHeads][]byte

// Decode finds the messages in raw and checks that all of raw is JSON.
func (c *codec) Decode(raw []byte) (msgs []wire.Message, batch bool, err error) {
	clear(c.msgs)
	c.msgs = c.msgs[:0]
	i := scan.Skip(raw, 0)
	switch {
	case !utf8.Valid(raw):
		return c.broken(raw, "invalid UTF-8"), false, nil
	case i < len(raw) && raw[i] == '[' && c.plan.names.Batches:
		return c.batch(raw, i)
	}
	end, err := c.element(raw, i, c.o.MaxDepth)
	switch {
	case err != nil:
		return c.unread(raw, err)
	case scan.Skip(raw, end) < len(raw):
		return c.broken(raw, "more than one JSON value in a message"), false, nil
	}
	return c.msgs, false, nil
}

func (c *codec) batch(raw []byte, i int) ([]wire.Message, bool, error) {
	n, err := jsonrpc.ReadBatch(raw, i, c.o.MaxDepth, c.element)
	switch {
	case err != nil:
		return c.unread(raw, err)
	case n == 0:
		c.msgs = append(c.msgs, jsonrpc.EmptyBatch(raw))
	}
	return c.msgs, n > 0, nil
}

// unread handles input that could not be read: it returns the failure of a program, or an Invalid message for input
// that is not JSON.
func (c *codec) unread(raw []byte, err error) ([]wire.Message, bool, error) {
	if wire.AsFault(err) != nil {
		return nil, false, err
	}
	return c.broken(raw, err.Error()), false, nil
}

// broken returns an Invalid message for input that is not JSON.
func (c *codec) broken(raw []byte, what string) []wire.Message {
	clear(c.msgs)
	c.msgs = append(c.msgs[:0], jsonrpc.Broken(raw, what))
	return c.msgs
}

// element reads the message at raw[i] into c.msgs.
func (c *codec) element(raw []byte, i, depth int) (end int, err error) {
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
	c.msgs = append(c.msgs, wire.Message{})
	last := len(c.msgs) - 1
	if err := c.message(raw[i:end], &c.msgs[last]); err != nil {
		c.msgs = c.msgs[:last] // a program failed: there is no message, but the peer made no mistake
		return end, err
	}
	return end, nil
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
	val := h[p.head]
	for _, step := range p.path[1:] {
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
