package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/jq"
	"rpcx/wire/tape"
	"rpcx/wire/tape/match"
	"rpcx/wire/validate"
)

// A Checker checks one conversation against a set of rules. Its memory does not
// grow with the conversation. It is not safe for concurrent use.
type Checker struct {
	broken   func(rule, reason string)
	shape    dialect.Shape
	programs programs
	conns    map[int]*connection
	closed   *fifo[*connection] // the most recently closed connections
	tape     *fifo[any]
	schemas  *fifo[*compiled]
	texts    func() map[string]json.RawMessage // returns the members of Set.Schemas
	last     tape.Line                         // the latest line without its message
}

// New returns a Checker for a new conversation. It skips the rules named in disabled. If a program fails on a message, its rule does not
// apply to the message, and the Checker calls broken.
func New(set *Set, disabled []string, broken func(rule, reason string)) (*Checker, error) {
	shape, err := all.ShapeOf(set.Dialect)
	if err != nil {
		return nil, err
	}
	c := &Checker{
		broken: broken, shape: shape, tape: newFifo[any](maxKept),
		conns: map[int]*connection{}, closed: newFifo[*connection](maxClosed),
		schemas: newFifo[*compiled](maxSchemas),
		texts: sync.OnceValue(func() (all map[string]json.RawMessage) {
			_ = json.Unmarshal([]byte(set.Schemas), &all) // most dialects have none
			return all
		}),
		programs: programs{defs: set.Defs, about: set.About, compiled: map[string]*jq.Program{}},
	}
	for i := range set.Rules {
		if r := &set.Rules[i]; !slices.Contains(disabled, r.Name) {
			c.programs.parts = append(c.programs.parts, part{&r.When, r, r.JQ})
		}
	}
	for i := range set.Keep {
		c.programs.parts = append(c.programs.parts, part{&set.Keep[i].When, nil, set.Keep[i].JQ})
	}
	return c, nil
}

// Line checks the next line of a tape, or the next message of a live conversation, and returns the violations. A live
// message needs Number, Time, Dir, and either Msg or Bytes. If there are several connections, it also needs Conn. Line
// does not retain l. It fails if ctx ends or if a program does not compile.
func (c *Checker) Line(ctx context.Context, l *tape.Line) ([]validate.Problem, error) {
	c.last = tape.Line{Number: l.Number, Time: l.Time}
	k := c.connection(l)
	if text, ok := Noise(l); ok {
		recv := tape.Line{Number: l.Number, Kind: tape.Message, Conn: l.Conn, Time: l.Time, Dir: wire.Recv, Bytes: []byte(text)}
		v := k.message(&c.shape, &recv, recv.Bytes, nil)
		v.kind, v.val["kind"] = kindNoise, kindNoise
		return c.run(ctx, k, v)
	}
	switch l.Kind {
	case tape.Opening:
		return c.run(ctx, k, opening(l))
	case tape.Exchange:
		if l.HTTP.Error != "" { // the line does not name the messages of the request, so any pending request may be among them
			k.pending[client].each(func(_ string, c *call) { c.cut = true })
		}
		return c.run(ctx, k, exchange(l))
	case tape.Closing:
		if c.conns[l.Conn] == nil {
			return nil, nil // the other side had closed the connection before
		}
		delete(c.conns, l.Conn)
		c.closed.put(strconv.Itoa(l.Conn), k)
		return c.run(ctx, k, k.end(l))
	case tape.Message:
		if l.Payload() == nil { // a line with "match" describes a message instead of containing it
			k.vague = true
			return nil, nil
		}
		return c.message(ctx, k, l)
	}
	return nil, nil
}

// Noise returns the text of a line that records output of a child other than messages.
func Noise(l *tape.Line) (text string, ok bool) {
	if l.Kind != tape.Note {
		return "", false
	}
	return strings.CutPrefix(l.Note, tape.NoiseNote)
}

// End checks the end of the conversation, including requests that got no response.
func (c *Checker) End(ctx context.Context) (found []validate.Problem, err error) {
	for _, n := range slices.Sorted(maps.Keys(c.conns)) {
		l := c.last
		l.Conn = n
		f, err := c.run(ctx, c.conns[n], c.conns[n].end(&l))
		if found = append(found, f...); err != nil {
			return found, err
		}
	}
	c.conns = map[int]*connection{}
	return found, nil
}

// connection returns the facts about the connection of l. The facts about a closed connection remain for a while,
// because messages of the closing handshake may follow.
func (c *Checker) connection(l *tape.Line) *connection {
	if l.Kind != tape.Opening {
		if k := c.conns[l.Conn]; k != nil {
			return k
		}
		if k := c.closed.get(strconv.Itoa(l.Conn)); k != nil {
			return k
		}
	}
	k := newConnection(c.tape)
	c.conns[l.Conn] = k
	return k
}

// message checks a message, or each message of a batch.
func (c *Checker) message(ctx context.Context, k *connection, l *tape.Line) ([]validate.Problem, error) {
	whole := k.message(&c.shape, l, l.Payload(), nil)
	elements, batch := match.Elements(&c.shape, l.Msg)
	if !batch {
		return c.run(ctx, k, whole)
	}
	whole.kind = kindBatch
	whole.val["kind"] = kindBatch
	parts, vals := []*view{}, []any{}
	for i, raw := range elements {
		v := k.message(&c.shape, l, raw, i)
		v.prefix = fmt.Sprintf("/%d", i)
		parts, vals = append(parts, v), append(vals, v.val)
	}
	whole.val["parts"] = vals
	found, err := c.run(ctx, k, whole)
	for _, v := range parts {
		if err == nil {
			var f []validate.Problem
			f, err = c.run(ctx, k, v)
			found = append(found, f...)
		}
	}
	return found, err
}

// run runs all programs that apply to v.
func (c *Checker) run(ctx context.Context, k *connection, v *view) (found []validate.Problem, err error) {
	out, err := c.programs.run(context.WithValue(ctx, connectionKey{}, k), v)
	for _, o := range out {
		r := o.part.rule
		switch {
		case o.failed != "":
			c.failed(o)
		case r == nil:
			k.keep(o.val)
		case r.Check != "":
			found = append(found, checks[r.Check](ctx, c, v, r, o.val)...)
		default:
			found = append(found, c.problem(v, r, o.val)...)
		}
	}
	return found, err
}

func (c *Checker) failed(o output) {
	name := "keep: " + strings.TrimSpace(o.part.jq)
	if o.part.rule != nil {
		name = o.part.rule.Name
	}
	c.broken(name, o.failed)
}

func (k *connection) keep(out any) {
	pair, ok := out.([]any)
	if !ok || len(pair) != 2 {
		return
	}
	key, ok := pair[0].(string)
	switch {
	case !ok:
	case pair[1] == nil:
		k.memory(key).drop(key)
	default:
		k.memory(key).put(key, pair[1])
	}
}
