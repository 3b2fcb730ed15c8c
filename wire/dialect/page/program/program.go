// Package program runs the jq programs in a dialect file: with its variables, and with limits on time and output. It compiles a
// program at its first use.
package program

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/jq"
	"rpcx/wire/scan"
)

// ListLimit bounds the time of All, which converts a whole response to a list and does not run for each message.
const ListLimit = 10 * time.Second

// maxOutput bounds the size of one output in bytes; it is the limit for a message.
const maxOutput = wire.DefaultMaxMessage

// Limit bounds the time of a program that runs for each message.
const Limit = 100 * time.Millisecond

// tries bounds the number of runs if a program exceeds Limit.
const tries = 4

// Limits of All.
const (
	maxOutputs = 100_000
	maxList    = jq.MaxMemory // the total size of the outputs in bytes
)

// Variables lists the variables of programs with their descriptions. A variable without a value is null.
func Variables() []Variable {
	return []Variable{
		{"method", "the method of the call, as the user or hook specified it", func(s *Scope) json.RawMessage { return text(s.Method) }},
		{"params", "the params of the call, as specified; for a stream, the params of its request", func(s *Scope) json.RawMessage { return s.Params }},
		{"id", "the id of the request", func(s *Scope) json.RawMessage { return s.ID }},
		{"name", "the method of a notification that may be an item, or that belongs to a running call", func(s *Scope) json.RawMessage { return scan.AppendQuoted(nil, s.Name) }},
		{"token", "the token of a running call, which its notifications repeat", func(s *Scope) json.RawMessage { return s.Token }},
		{"code", "the code to evaluate", func(s *Scope) json.RawMessage { return s.Code }},
		{"result", "the result to write; for a stream, the response to its request", func(s *Scope) json.RawMessage { return s.Result }},
		{"error", "the error to write: code, message, data", func(s *Scope) json.RawMessage { return s.Error }},
		{"event", "an event of a running hook: kind, message, fraction, level, data", func(s *Scope) json.RawMessage { return s.Event }},
		{"request", "the whole request to which a response belongs", func(s *Scope) json.RawMessage { return s.Request }},
		{"hooks", "an array of the exact names of rpcx's hooks", ofConn((*Conn).hooks)},
		{"schema", "the schema of the hook's result", func(s *Scope) json.RawMessage { return s.Schema }},
		{"catalog", "rpcx's catalog", (*Scope).catalog},
		{"kept", "an object with the values kept in the handshake", ofConn(func(c *Conn) json.RawMessage { return c.Kept })},
		{"extra", "an object with the extra members", func(s *Scope) json.RawMessage { return s.Extra }},
		{"meta", "in the handshake, an object with the values of --set that [set] declares", ofConn(func(c *Conn) json.RawMessage { return c.Meta })},
		{"path", "the path of the endpoint's URL, without its query", ofConn(func(c *Conn) json.RawMessage { return text(c.Path) })},
		{"http", "true if each message is an HTTP request", ofConn(func(c *Conn) json.RawMessage { return strconv.AppendBool(nil, c.HTTP) })},
		{"logs", "the lowest level of the log lines that the user sees, or null if the user sees none", ofConn(func(c *Conn) json.RawMessage { return text(c.Logs) })},
		{"version", "the version of rpcx", ofConn(func(c *Conn) json.RawMessage { return scan.AppendQuoted(nil, c.Version) })},
		{"cwd", "the current directory", directory},
		{"pid", "the process ID of rpcx", func(*Scope) json.RawMessage { return strconv.AppendInt(nil, int64(os.Getpid()), 10) }},
	}
}

// A Variable is a variable of programs, with its description for the manual.
type Variable struct {
	Name, Says string
	value      func(*Scope) json.RawMessage
}

// A Program is a jq program in a dialect file. A nil Program has no output.
type Program struct {
	text     string
	member   string          // the program's file and member, or ""
	yields   string          // the types of the output, separated by "|", or "" for any; "nothing" is null or no output
	constant json.RawMessage // the output if the program is a JSON value, else nil
	compile  func() (*jq.Program, error)
}

// New returns the program with that text, which is compiled at its first use or by Check.
func New(text string) *Program {
	p := &Program{
		text: text,
		compile: sync.OnceValues(func() (*jq.Program, error) {
			o := jq.Options{Declared: slices.Sorted(maps.Keys(values())), Foreign: true}
			if callsOwn().MatchString(text) { // a program that calls these functions needs its whole input decoded
				o.Funcs = []jq.Func{
					{Name: "fail", Arity: 2, Call: fail},
					{Name: "fail", Arity: 3, Call: fail},
					{Name: "hash", Arity: 2, Call: hashed},
					{Name: "hmac", Arity: 3, Call: hashed},
				}
			}
			return jq.Compile(text, o)
		}),
	}
	if !strings.Contains(text, `\`) && scan.Valid([]byte(text), wire.DefaultMaxDepth) == nil {
		p.constant = scan.Compact(nil, []byte(text))
	}
	return p
}

var callsOwn = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[^.$\w])(fail|hash|hmac)\s*\(`) })

// UnmarshalText sets p to the program with that text.
func (p *Program) UnmarshalText(text []byte) error {
	*p = *New(string(text))
	return nil
}

// Text returns the program's text.
func (p *Program) Text() string { return p.text }

// StandsAt sets the program's file and member, for error messages.
func (p *Program) StandsAt(member string) { p.member = member }

// Check returns an error if the program does not compile, or if its output is a constant without one of the types in yields. It also sets
// these types for First.
func (p *Program) Check(yields string) error {
	p.yields = yields
	if _, err := p.compile(); err != nil || p.constant == nil {
		return err
	}
	return p.fits(p.constant)
}

// fits returns an error if out, the first output, has the wrong type.
func (p *Program) fits(out json.RawMessage) error {
	if p.yields == "" {
		return nil
	}
	types := strings.Split(p.yields, "|")
	none := len(out) == 0 || string(out) == "null"
	if none && slices.Contains(types, "nothing") || slices.ContainsFunc(types, func(t string) bool { return scan.HasType(out, t) }) {
		return nil
	}
	return fmt.Errorf("the output is %s: expected %s", cmp.Or(wire.Excerpt(string(out), 40), "missing"), strings.Join(types, " or "))
}

// First returns the first output for the input in, or nil. The caller must not change it, because it may be part of in or of a
// variable. The error is a Fault of kind Helper if the program failed or exceeded Limit.
func (p *Program) First(in json.RawMessage, vals jq.Values) (json.RawMessage, error) {
	switch {
	case p == nil:
		return nil, nil
	case p.constant != nil:
		return p.constant, nil
	}
	return within(p, in, Limit, tries, func(ctx context.Context, prog *jq.Program, in json.RawMessage) (got json.RawMessage, err error) {
		err = prog.RunWith(ctx, in, vals, func(v json.RawMessage) (bool, error) {
			got = v
			return false, tooLong(v)
		})
		return got, cmp.Or(err, p.fits(got))
	})
}

// All returns all outputs for the input in. The notes on First also apply here.
func (p *Program) All(in json.RawMessage, vals jq.Values) (outs []json.RawMessage, err error) {
	switch {
	case p == nil:
		return nil, nil
	case p.constant != nil:
		return []json.RawMessage{p.constant}, nil
	}
	return within(p, in, ListLimit, 1, func(ctx context.Context, prog *jq.Program, in json.RawMessage) (outs []json.RawMessage, err error) {
		total := 0
		err = prog.RunWith(ctx, in, vals, func(v json.RawMessage) (bool, error) {
			if len(outs) == maxOutputs {
				return false, fmt.Errorf("more than %d outputs", maxOutputs)
			}
			if total += len(v); total > maxList {
				return false, fmt.Errorf("outputs of more than %d bytes", maxList)
			}
			outs = append(outs, v)
			return true, tooLong(v)
		})
		return outs, err
	})
}

// Holds reports whether any output for the input in is neither null nor false. A nil Program returns true.
func (p *Program) Holds(in json.RawMessage, vals jq.Values) (bool, error) {
	if p == nil {
		return true, nil
	}
	return within(p, in, Limit, tries, func(ctx context.Context, prog *jq.Program, in json.RawMessage) (bool, error) {
		return prog.TruthWith(ctx, in, vals)
	})
}

// If returns the first output of p for the input in if when holds for it. Otherwise, ok is false.
func If(when, p *Program, in json.RawMessage, vals jq.Values) (out json.RawMessage, ok bool, err error) {
	if ok, err = when.Holds(in, vals); !ok || err != nil {
		return nil, false, err
	}
	out, err = p.First(in, vals)
	return out, err == nil, err
}

// within runs the program for at most limit. After a timeout, it runs the program again, up to the given number of tries, because this
// process may have waited for a processor. A program that is only a path has no limit, because its input bounds its time.
func within[T any](p *Program, in json.RawMessage, limit time.Duration, tries int, run func(ctx context.Context, prog *jq.Program, in json.RawMessage) (T, error)) (got T, err error) {
	prog, err := p.compile()
	if err != nil {
		return got, err
	}
	in = scan.OrNull(in)
	if prog.IsPath() {
		got, err = run(context.Background(), prog, in)
		return got, p.failed(err, limit)
	}
	each := limit
	if prog.HasLongStep() { // after a timeout, the abandoned run continues, so one run gets the time of all
		each, tries = time.Duration(tries)*limit, 1
	}
	for range tries {
		got, err = jq.Bounded(context.Background(), prog, each, in, func(ctx context.Context, in json.RawMessage) (T, error) { return run(ctx, prog, in) })
		if !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	return got, p.failed(err, limit)
}

// tooLong returns an error if an output is longer than a message may be.
func tooLong(v json.RawMessage) error {
	if len(v) > maxOutput {
		return fmt.Errorf("an output of more than %d bytes", maxOutput)
	}
	return nil
}

// fail implements fail(CODE; TEXT) and fail(CODE; TEXT; DATA), with which a program rejects a call.
func fail(_ context.Context, _ any, args []any) (any, error) {
	e := &wire.Error{Code: jq.Encode(args[0])}
	text, ok := args[1].(string)
	if t := scan.Type(e.Code); !ok || t != 'n' && t != 's' {
		return nil, errors.New("fail needs a code (a number or a string) and a message")
	}
	e.Message = text
	if len(args) > 2 && args[2] != nil {
		e.Data = jq.Encode(args[2])
	}
	return nil, e
}
