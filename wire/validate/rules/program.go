package rules

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"rpcx/wire/jq"
)

// functions are those that the programs of rules can call beside jq's own.
var functions = []jq.Func{
	{Name: "kept", Arity: 1, Call: func(ctx context.Context, _ any, args []any) (any, error) {
		key, of := remembered(ctx, args[0])
		return of.get(key), nil
	}},
	{Name: "unknown", Arity: 1, Call: func(ctx context.Context, _ any, args []any) (any, error) {
		key, of := remembered(ctx, args[0])
		return of.get(key) == nil && !of.dropped, nil
	}},
}

// connectionKey is the key of the connection in a run's context.
type connectionKey struct{}

// remembered returns a key as text, and where it is kept.
func remembered(ctx context.Context, arg any) (string, *fifo[any]) {
	k := ctx.Value(connectionKey{}).(*connection)
	key, ok := arg.(string)
	if !ok {
		key = fmt.Sprint(arg)
	}
	return key, k.memory(key)
}

// memory returns where key is kept.
func (k *connection) memory(key string) *fifo[any] {
	if strings.HasPrefix(key, "tape/") {
		return k.tape
	}
	return k.kept
}

// A part is one program of a set, with what it sees.
type part struct {
	when *When
	rule *Rule // nil: it keeps
	jq   string
}

// programs runs the programs of a set that see a message as one, so that the message
// is decoded once. Programs that are needed together are compiled when they first are.
type programs struct {
	defs     string
	parts    []part
	compiled map[string]*jq.Program // by the numbers of the parts
	key      []byte
	chosen   []int
}

// usual are the kinds that a program sees that names none.
var usual = []string{kindRequest, kindNotification, kindResponse}

// sees reports whether a program is to see v.
func (w *When) sees(v *view) bool {
	kinds := w.Kind
	if len(kinds) == 0 {
		kinds = usual
	}
	return slices.Contains(kinds, v.kind) &&
		(w.From == "" || w.From == v.from) &&
		(len(w.Method) == 0 || slices.Contains(w.Method, v.method)) &&
		(len(w.Mentions) == 0 || v.mentions(w.Mentions))
}

// mentions reports whether the message's text holds one of words.
func (v *view) mentions(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(v.raw, []byte(w)) })
}

// of returns the program of all parts that see v; nil where none does.
func (p *programs) of(v *view) (*jq.Program, error) {
	p.key, p.chosen = p.key[:0], p.chosen[:0]
	for i := range p.parts {
		if p.parts[i].when.sees(v) {
			p.chosen = append(p.chosen, i)
			p.key = binary.AppendUvarint(p.key, uint64(i))
		}
	}
	if len(p.chosen) == 0 {
		return nil, nil
	}
	if prog := p.compiled[string(p.key)]; prog != nil {
		return prog, nil
	}
	prog, err := jq.Compile(p.source(), jq.Options{Funcs: functions})
	if err == nil {
		p.compiled[string(p.key)] = prog
	}
	return prog, err
}

// source returns the text of the chosen parts as one program. Each output is an
// array: the number of the part, and what it yields; or that, null, and what went
// wrong in it.
func (p *programs) source() string {
	var b strings.Builder
	b.WriteString(p.defs)
	for n, i := range p.chosen {
		if n > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n(try ((%s\n) | [%d, .]) catch [%d, null, .])", p.parts[i].jq, i, i)
	}
	return b.String()
}
