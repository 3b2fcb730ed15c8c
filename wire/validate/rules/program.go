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

// functions are available to the programs of rules, in addition to jq's own functions.
var functions = []jq.Func{
	{Name: "kept", Arity: 1, Call: func(ctx context.Context, _ any, args []any) (any, error) {
		key, of := remembered(ctx, args[0])
		return of.get(key), nil
	}},
	{Name: "unknown", Arity: 1, Call: func(ctx context.Context, _ any, args []any) (any, error) {
		key, of := remembered(ctx, args[0])
		return of.get(key) == nil && !of.dropped && !ctx.Value(connectionKey{}).(*connection).vague, nil
	}},
}

// common contains definitions for the programs of all sets. A SPEC for shape is a type or several ("string|null"), one of
// several words ("=a|b"), an array of a SPEC ([SPEC]), or an object whose optional members end with "?". unanswered yields the
// requests that the side that closed the connection has not answered. After a message that ends the conversation, which a
// set keeps as "leaving", this side may omit responses. A request is then reported only if a later one was answered before
// that message, which the set keeps with served, and if slow is false for its method.
const common = `
def typed: if type == "number" and . == floor then "integer" else type end;
def shape($spec; $at):
  if $spec | type == "array" then if type == "array" then to_entries[] | .key as $i | .value | shape($spec[0]; "\($at)/\($i)") else {at: $at, want: "array"} end
  elif $spec | type == "object" then if type != "object" then {at: $at, want: "object"} else . as $all | $spec | to_entries[] | .value as $of
    | (.key | rtrimstr("?")) as $name | select(.key == $name or ($all | has($name))) | $all[$name] | shape($of; "\($at)/\($name)") end
  elif $spec | startswith("=") then . as $word | select($spec[1:] | split("|") | index([$word]) | not) | {at: $at, want: $spec[1:]}
  elif $spec == "any" then empty
  else [type, typed] as $types | select($spec | split("|") | any(.[]; IN($types[])) | not) | {at: $at, want: $spec} end;
def served: (if .from == "client" then "served/server" else "served/client" end) as $key
  | select(kept("leaving") == null) | .request | objects | .n | [$key, ([., kept($key) // 0] | max)];
def unanswered(slow): .by as $by | select($by) | kept("leaving") as $end | .open[] | select(.from != $by) | (.method // "") as $method
  | select($end == null or .n < (kept("served/\(.from)") // 0) and ($method | slow | not)) | {n, from: $by, got: .id};
`

// connectionKey is the context key of the connection.
type connectionKey struct{}

// remembered returns a key as a string, and the store to which the key belongs.
func remembered(ctx context.Context, arg any) (string, *fifo[any]) {
	k := ctx.Value(connectionKey{}).(*connection)
	key := fmt.Sprint(arg)
	return key, k.memory(key)
}

func (k *connection) memory(key string) *fifo[any] {
	if strings.HasPrefix(key, "tape/") {
		return k.tape
	}
	return k.kept
}

// A part is one program of a set, with the condition that selects its messages.
type part struct {
	when *When
	rule *Rule // nil if the program belongs to a Keep
	jq   string
}

// programs runs the programs of a set. Programs that apply to the same message run as one, so that the message is
// decoded only once. A combination is compiled when it is first used.
type programs struct {
	defs     string
	about    string // "" if the set has none
	parts    []part
	compiled map[string]*jq.Program // by the name that compile receives
	key      []byte
	chosen   []int
}

// usual are the kinds of messages to which a program applies by default.
var usual = []string{kindRequest, kindNotification, kindResponse}

func (w *When) sees(v *view) bool {
	kinds := w.Kind
	if len(kinds) == 0 {
		kinds = usual
	}
	return slices.Contains(kinds, v.kind) &&
		(w.From == "" || w.From == v.from) &&
		(len(w.Method) == 0 || slices.Contains(w.Method, v.method)) &&
		(len(w.Mentions) == 0 || slices.ContainsFunc(w.Mentions, func(word string) bool { return bytes.Contains(v.raw, []byte(word)) })) &&
		(len(w.Sort) == 0 || slices.ContainsFunc(v.sorts, func(s any) bool { text, _ := s.(string); return slices.Contains(w.Sort, text) }))
}

// An output is a value that a part yields, or the reason for its failure.
type output struct {
	part   *part
	val    any
	failed string // the reason for the failure, or ""
}

// run runs all parts for v and returns their output.
func (p *programs) run(ctx context.Context, v *view) ([]output, error) {
	if err := p.look(ctx, v); err != nil {
		return nil, err
	}
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
	out, err := p.together(ctx, v, "all", "(%[2]s\n) | [%[1]d, .]")
	if err == nil || ctx.Err() != nil {
		return out, err
	}
	return p.together(ctx, v, "each", "try ((%[2]s\n) | [%[1]d, .]) catch [%[1]d, null, .]")
}

func (p *programs) look(ctx context.Context, v *view) error {
	if p.about == "" || !slices.Contains(usual, v.kind) {
		return nil
	}
	prog, err := p.compile("about", func() string { return p.about })
	if err != nil {
		return err
	}
	var about map[string]any
	err = prog.Each(ctx, v.val, func(out any) (bool, error) {
		about, _ = out.(map[string]any)
		return false, nil
	})
	v.val["about"] = any(nil)
	if err == nil && about != nil { // otherwise the message is too malformed to conclude anything
		v.val["about"] = about
		v.sorts, _ = about["sort"].([]any)
	}
	return ctx.Err()
}

// together runs the chosen parts as one program. form surrounds each part: %[1]d in it is the part's number, and %[2]s
// is its text. form determines whether the other parts continue when one fails.
func (p *programs) together(ctx context.Context, v *view, name, form string) (all []output, err error) {
	prog, err := p.compile(name+string(p.key), func() string {
		var b strings.Builder
		for n, i := range p.chosen {
			if n > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, "\n("+form+")", i, p.parts[i].jq)
		}
		return b.String()
	})
	if err != nil {
		return nil, err
	}
	err = prog.Each(ctx, v.val, func(out any) (bool, error) {
		pair := out.([]any)
		o := output{part: &p.parts[pair[0].(int)], val: pair[1]}
		if len(pair) > 2 {
			o.failed = fmt.Sprint(pair[2])
		}
		all = append(all, o)
		return true, nil
	})
	return all, err
}

// compile returns the program of that name. It calls text only if the program is not yet compiled.
func (p *programs) compile(name string, text func() string) (*jq.Program, error) {
	if prog := p.compiled[name]; prog != nil {
		return prog, nil
	}
	prog, err := jq.Compile(common+p.defs+"\n"+text(), jq.Options{Funcs: functions})
	if err == nil {
		p.compiled[name] = prog
	}
	return prog, err
}
