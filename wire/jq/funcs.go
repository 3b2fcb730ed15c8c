package jq

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/itchyny/gojq"
)

// runVar is the variable that tells a Func which Run has called it, because gojq passes no context to functions. Its
// value is a number, which may be printed.
const runVar = "__rpcx_run"

// define puts definitions of the functions that src may call before query, which is the parsed src.
func (p *Program) define(o Options, src string, query *gojq.Query) error {
	defs := ""
	if strings.Contains(src, "debug") {
		defs = "def debug(f): (f | debug | empty), .;"
	}
	for _, f := range o.Funcs {
		if !strings.Contains(src, f.Name) {
			continue
		}
		args := make([]string, f.Arity)
		for i := range args {
			args[i] = "$a" + strconv.Itoa(i)
		}
		def := f.Name
		if f.Arity > 0 {
			def += "(" + strings.Join(args, ";") + ")"
		}
		call := strings.Join(append([]string{"$" + runVar}, args...), ";")
		defs += "def " + def + ": " + f.inner() + "(" + call + ");"
	}
	if defs == "" {
		return nil
	}
	q, err := gojq.Parse(defs + " .")
	if err != nil {
		return fmt.Errorf("defining jq functions: %w", err)
	}
	query.FuncDefs = append(q.FuncDefs, query.FuncDefs...)
	return nil
}

// inner returns the name under which gojq knows f. Each number of arguments needs its own function.
func (f Func) inner() string { return "__rpcx_" + f.Name + "_" + strconv.Itoa(f.Arity) }

// function returns f as a function of gojq. Its first argument is the number that identifies the run.
func (p *Program) function(f Func) gojq.CompilerOption {
	return gojq.WithFunction(f.inner(), f.Arity+1, f.Arity+1, func(input any, args []any) any {
		handle, _ := args[0].(int)
		ctx, ok := p.runs.Load(handle)
		if !ok {
			return fmt.Errorf("%s is called outside of a run", f.Name)
		}
		v, err := f.Call(ctx.(context.Context), input, args[1:])
		if err != nil {
			return err
		}
		return v
	})
}

// Names returns the sorted names of the functions that all programs can call.
func Names() []string {
	p, err := Compile(`[builtins[] | split("/")[0] | select(startswith("_") | not)] | unique`, Options{})
	if err != nil {
		return nil
	}
	var names []string
	_ = p.Run(context.Background(), json.RawMessage("null"), func(out json.RawMessage) (bool, error) {
		return false, json.Unmarshal(out, &names)
	})
	return names
}

// impure lists the functions that do more than compute outputs from their input: they write, read the clock, or read
// other inputs.
var impure = []string{"debug", "stderr", "now", "input", "inputs"}

// isPure reports whether src calls none of the functions in impure.
func isPure(src string) bool {
	words := strings.FieldsFunc(src, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return !slices.ContainsFunc(words, func(word string) bool { return slices.Contains(impure, word) })
}

// RunsAhead reports whether it is useful to run p on several inputs before their outputs are needed. p must not have
// side effects or read the clock, and must be slow, because gojq has to run it.
func (p *Program) RunsAhead() bool { return p.path == nil && p.plan == nil && p.pure }

// builtins returns the functions of jq that the gojq command implements itself.
func builtins(w io.Writer) []gojq.CompilerOption {
	w = cmp.Or(w, io.Discard)
	return []gojq.CompilerOption{
		gojq.WithFunction("debug", 0, 0, func(v any, _ []any) any {
			b, _ := gojq.Marshal([]any{"DEBUG:", v})
			w.Write(append(b, '\n'))
			return v
		}),
		gojq.WithFunction("stderr", 0, 0, func(v any, _ []any) any {
			text, ok := v.(string)
			if !ok {
				b, _ := gojq.Marshal(v)
				text = string(b)
			}
			io.WriteString(w, text)
			return v
		}),
	}
}
