package rules

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/jq"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
	"rpcx/wire/tape/match"
)

// Options say how a Checker works. The zero value is usable.
type Options struct {
	Disable []string // names of rules that are not applied
	// Broken is told of a program of the set that failed on a message: that rule says
	// nothing of it. May be nil.
	Broken func(rule, reason string)
}

// A Checker holds one conversation against a set of rules. What it keeps does not
// grow with the conversation. It is not for several goroutines at once.
type Checker struct {
	set      *Set
	o        Options
	shape    dialect.Shape
	programs programs
	conns    map[int]*connection
	tape     *fifo[any]
	schemas  *schemas
	last     tape.Line // of the conversation, without its message
}

// A Finding is one rule broken in one place.
type Finding struct {
	Rule    *Rule
	Line    int    // on the tape, or the number of the message in a live conversation
	Conn    int    // 0: the only connection
	From    string // who sent the message: "client" or "server"; "": it is no message
	Section string // of Rule.Page
	Pointer string // where in the message; "" is the whole
	Want    string // what was expected
	Got     string // what was there, shortened; "": not said
}

// New returns a Checker of a new conversation. The error is a usage Fault: a name in
// o.Disable is no rule of the set.
func New(set *Set, o Options) (*Checker, error) {
	shape, err := all.ShapeOf(set.Dialect)
	if err != nil {
		return nil, err
	}
	c := &Checker{
		set: set, o: o, shape: shape, conns: map[int]*connection{}, tape: newFifo[any](mostKept),
		schemas: newSchemas(set.Schemas), programs: programs{defs: set.Defs, compiled: map[string]*jq.Program{}},
	}
	for _, name := range o.Disable {
		if _, err := set.Rule(name); err != nil {
			return nil, err
		}
	}
	for i := range set.Rules {
		if r := &set.Rules[i]; !slices.Contains(o.Disable, r.Name) {
			c.programs.parts = append(c.programs.parts, part{&r.When, r, r.JQ})
		}
	}
	for i := range set.Keep {
		c.programs.parts = append(c.programs.parts, part{&set.Keep[i].When, nil, set.Keep[i].JQ})
	}
	return c, nil
}

// Line takes the next line of a tape, or the next message of a live conversation
// (with Number, Time, Dir and Msg or Bytes; Conn where there are several), of which
// nothing is kept. It returns what the line breaks. The error is that of ctx, or of a
// program that cannot be compiled.
func (c *Checker) Line(ctx context.Context, l *tape.Line) ([]Finding, error) {
	c.last = tape.Line{Number: l.Number, Time: l.Time}
	k := c.connection(l.Conn)
	switch l.Kind {
	case tape.Opening:
		return c.run(ctx, k, opening(l))
	case tape.Exchange:
		return c.run(ctx, k, exchange(l))
	case tape.Closing:
		delete(c.conns, l.Conn)
		return c.run(ctx, k, k.end(l))
	case tape.Message:
		if l.Payload() == nil || l.Vars {
			return nil, nil // people say what it is like, not what it is
		}
		return c.message(ctx, k, l)
	}
	return nil, nil
}

// End takes the end of the conversation: what is open then can no longer be put
// right.
func (c *Checker) End(ctx context.Context) (found []Finding, err error) {
	numbers := []int{}
	for n := range c.conns {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
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

func (c *Checker) connection(n int) *connection {
	k := c.conns[n]
	if k == nil {
		k = newConnection(n, c.tape)
		c.conns[n] = k
	}
	return k
}

// message checks a message, and those in it where it is a batch.
func (c *Checker) message(ctx context.Context, k *connection, l *tape.Line) ([]Finding, error) {
	if l.Msg == nil {
		return c.run(ctx, k, k.message(&c.shape, l, l.Bytes, nil))
	}
	elements, batch := match.Elements(l.Msg)
	if !batch {
		return c.run(ctx, k, k.message(&c.shape, l, l.Msg, nil))
	}
	whole := k.message(&c.shape, l, l.Msg, nil)
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
			var f []Finding
			f, err = c.run(ctx, k, v)
			found = append(found, f...)
		}
	}
	return found, err
}

// run has all programs that are to see v see it.
func (c *Checker) run(ctx context.Context, k *connection, v *view) (found []Finding, err error) {
	p, err := c.programs.of(v)
	if p == nil || err != nil {
		return nil, err
	}
	err = p.Each(context.WithValue(ctx, connectionKey{}, k), v.val, func(out any) (bool, error) {
		pair := out.([]any)
		n := pair[0].(int)
		part := &c.programs.parts[n]
		switch {
		case len(pair) > 2:
			c.broken(part, pair[2])
		case part.rule == nil:
			k.keep(pair[1])
		case part.rule.Check != "":
			found = append(found, checks[part.rule.Check](ctx, c, v, part.rule, pair[1])...)
		default:
			found = append(found, c.finding(v, part.rule, pair[1])...)
		}
		return true, nil
	})
	return found, err
}

// broken tells of a program that failed.
func (c *Checker) broken(p *part, reason any) {
	if c.o.Broken == nil {
		return
	}
	name := "keep: " + strings.TrimSpace(p.jq)
	if p.rule != nil {
		name = p.rule.Name
	}
	c.o.Broken(name, fmt.Sprint(reason))
}

// keep takes what the program of a Keep yields.
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

// finding makes a finding of what the program of r yields; none where it is about a
// secret that the tape does not hold.
func (c *Checker) finding(v *view, r *Rule, out any) []Finding {
	f := Finding{Rule: r, Line: v.line.Number, Conn: v.line.Conn, From: v.from, Section: r.Section, Want: r.Sentence}
	place := out
	if m, ok := out.(map[string]any); ok {
		place = m["at"]
		if n, ok := jq.Number(m["n"]); ok {
			if int(n) != f.Line {
				f.From = ""
			}
			f.Line = int(n)
		}
		if want, ok := m["want"].(string); ok {
			f.Want = want
		}
		if from, ok := m["from"].(string); ok {
			f.From = from
		}
		if section, ok := m["section"].(string); ok {
			f.Section = section
		}
		if got, ok := m["got"]; ok {
			f.Got = brief(got)
		}
	}
	f.Pointer = pointer(place)
	if f.Got == "" && f.Line == v.line.Number {
		val, there := lookup(v.val["msg"], f.Pointer)
		switch {
		case val == tape.Redacted:
			return nil
		case !there && f.Pointer != "":
			f.Got = "nothing"
		case f.Pointer != "":
			f.Got = brief(val)
		case v.val["text"] != nil:
			f.Got = brief(v.val["text"])
		}
	}
	f.Pointer = v.prefix + f.Pointer
	return []Finding{f}
}

// pointer is a place as a JSON pointer: it is one, or a path as an array.
func pointer(place any) string {
	switch place := place.(type) {
	case string:
		return place
	case []any:
		var b strings.Builder
		for _, step := range place {
			b.WriteString("/" + scan.Escape(fmt.Sprint(step)))
		}
		return b.String()
	}
	return ""
}

// lookup returns the value at a JSON pointer.
func lookup(val any, pointer string) (any, bool) {
	if pointer == "" {
		return val, val != nil
	}
	for _, token := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		switch in := val.(type) {
		case map[string]any:
			next, ok := in[scan.Unescape(token)]
			if !ok {
				return nil, false
			}
			val = next
		case []any:
			i := -1
			if _, err := fmt.Sscanf(token, "%d", &i); err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			val = in[i]
		default:
			return nil, false
		}
	}
	return val, true
}

// mostGot bounds what a finding shows of a value.
const mostGot = 80

// brief is a value on one line, shortened.
func brief(val any) string {
	b, err := jq.Encode(val)
	if err != nil {
		return ""
	}
	if len(b) <= mostGot {
		return string(b)
	}
	end := mostGot
	for end > 0 && !utf8.RuneStart(b[end]) {
		end--
	}
	return string(b[:end]) + "…"
}

// mentions says that the message's text holds one of words.
func (v *view) mentions(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(v.raw, []byte(w)) })
}
