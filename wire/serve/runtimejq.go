package serve

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/jq"
	"rpcx/wire/scan"
)

// maxEval is the time limit for an evaluation that has no other.
const maxEval = time.Hour

// jqRuntime evaluates jq programs in this process. Each binding is a function with one argument. invoke(NAME; INPUT)
// calls a function value "ref:ID", or a binding whose name is invalid in jq. $state is the value of the session's last
// setState(V), initially null. function(NAME) returns a function value for a binding. The value of the code is its last
// output. debug and stderr print.
type jqRuntime struct {
	mu     sync.Mutex
	states map[string]json.RawMessage // by session
}

func newJQ() *jqRuntime { return &jqRuntime{states: map[string]json.RawMessage{}} }

// About names the language and the engine.
func (*jqRuntime) About() map[string]string {
	return map[string]string{"language": "jq", "engine": "gojq"}
}

// Completions returns the names of jq's functions and of some that functions adds.
func (*jqRuntime) Completions() []string { return append(jq.Names(), "$state", "setState", "invoke") }

// Forget drops the state of a session.
func (r *jqRuntime) Forget(session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.states, session)
}

// Close does nothing, because an evaluation ends with its context.
func (*jqRuntime) Close() error { return nil }

// Eval runs e.Code on null.
func (r *jqRuntime) Eval(ctx context.Context, e dialect.Code) (json.RawMessage, error) {
	r.mu.Lock()
	state := r.states[e.Session]
	r.mu.Unlock()
	run := &jqRun{r: r, e: e}
	prog, err := jq.Compile(e.Code, jq.Options{
		Vars: map[string]json.RawMessage{"state": scan.OrNull(state)}, Funcs: run.functions(), Stderr: e.Printed, Foreign: true,
	})
	if err != nil {
		return nil, &dialect.EvalError{Message: err.Error(), Compile: true}
	}
	value, err := jq.Bounded(ctx, prog, maxEval, json.RawMessage("null"), func(ctx context.Context, in json.RawMessage) (last json.RawMessage, err error) {
		err = prog.Run(ctx, in, func(out json.RawMessage) (bool, error) {
			last = out // nil without output
			return true, nil
		})
		return last, err
	})
	switch failed, ok := errors.AsType[*dialect.EvalError](err); {
	case err == nil:
		return value, nil
	case ok:
		return nil, failed
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, &dialect.EvalError{Message: err.Error()}
}

type jqRun struct {
	r *jqRuntime
	e dialect.Code
}

// A binding can be called as a jq function if callable matches its name and keywords does not contain it.
var (
	callable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })
	keywords = []string{
		"and", "as", "break", "catch", "def", "elif", "else", "end", "false", "foreach", "if", "import", "include", "label",
		"module", "null", "or", "reduce", "then", "true", "try", "__loc__",
	}
)

// functions returns the functions that code can call in addition to jq's.
func (r *jqRun) functions() []jq.Func {
	var all []jq.Func
	for _, name := range r.e.Names {
		if !callable().MatchString(name) || slices.Contains(keywords, name) {
			continue
		}
		all = append(all, jq.Func{Name: name, Arity: 1, Call: func(ctx context.Context, _ any, args []any) (any, error) {
			return r.invoke(ctx, name, args[0])
		}})
	}
	return append(all,
		jq.Func{Name: "invoke", Arity: 2, Call: func(ctx context.Context, _ any, args []any) (any, error) {
			name, ok := args[0].(string)
			if !ok {
				return nil, errors.New("invoke needs the name of a binding")
			}
			return r.invoke(ctx, name, args[1])
		}},
		jq.Func{Name: "setState", Arity: 1, Call: r.setState},
		jq.Func{Name: "function", Arity: 1, Call: r.function},
	)
}

func (r *jqRun) invoke(ctx context.Context, name string, arg any) (any, error) {
	out, err := r.e.Invoke(ctx, name, jq.Encode(arg))
	if rpc, ok := errors.AsType[*wire.Error](err); ok { // jq's try catches it as an object with code and message
		err = jq.Thrown(&dialect.EvalError{Message: name + ": " + rpc.Message, Cause: rpc}, rpc)
	}
	if err != nil {
		return nil, err
	}
	return jq.Decode(scan.OrNull(out))
}

func (r *jqRun) setState(_ context.Context, _ any, args []any) (any, error) {
	v := jq.Encode(args[0])
	r.r.mu.Lock()
	defer r.r.mu.Unlock()
	r.r.states[r.e.Session] = v
	return args[0], nil
}

func (r *jqRun) function(_ context.Context, _ any, args []any) (any, error) {
	name, ok := args[0].(string)
	if !ok || !slices.Contains(r.e.Names, name) {
		return nil, errors.New("function needs the name of a binding")
	}
	value, err := functionValue(r.e, name)
	if err != nil {
		return nil, err
	}
	return jq.Decode(value)
}
