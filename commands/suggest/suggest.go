// Package suggest completes failures with the command that the user probably meant, based on the typed words and the
// peer's methods. If no command is certain, it adds a hint.
package suggest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/params"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// Call completes f, the failure of a call, with a corrected command line: with a method that the peer or the catalog has,
// if one is similar, with parameters that the peer may accept, or as a job if the dialect has jobs.
func Call(run *env.Env, f *wire.Fault, cat *catalog.Catalog, hasJobs bool) {
	switch {
	case f.RPC == nil || f.Hint != "":
		return
	case string(f.RPC.Code) == "-32602":
		invalidParams(run, f, cat)
		return
	case hasJobs:
		Job(run, f, cat.Method(f.Method))
	}
	if f.Hint != "" || string(f.RPC.Code) != "-32601" && f.RPC.Kind != "unknown_command" {
		return
	}
	if cat != nil {
		Name(run, f, f.Method, cat.Names())
	}
	if f.Hint == "" {
		exact(run, f, nearestOf(f.RPC.Data))
	}
	if f.Hint == "" {
		methodWord(run, f)
	}
}

// invalidParams completes the error -32602, which in MCP also means an unknown tool.
func invalidParams(run *env.Env, f *wire.Fault, cat *catalog.Catalog) {
	switch {
	case cat != nil && len(cat.Methods) > 0 && cat.Method(f.Method) == nil:
		Name(run, f, f.Method, cat.Names())
	case isMethodUnknown(f):
		exact(run, f, nearestOf(f.RPC.Data))
	default:
		values(run, f)
	}
}

// WantsJob reports whether the peer may have refused a call because the method is a job: the method does not exist as a
// call, or the error mentions jobs.
func WantsJob(f *wire.Fault) bool {
	return f.RPC != nil && f.Hint == "" && (string(f.RPC.Code) == "-32601" || strings.Contains(f.RPC.Message, "task"))
}

// Job completes f, the failure of a call, with the command that runs the method as a job, if the peer lists the method as
// a job and refuses calls.
func Job(run *env.Env, f *wire.Fault, m *catalog.Method) {
	if f.RPC == nil || f.Hint != "" || m == nil || m.Kind != catalog.Job || !slices.Equal(run.Line.Path, []string{"call"}) || len(run.Line.Args) < 2 {
		return
	}
	taskOnly := scan.String(scan.Get(scan.Get(m.Extra, "execution"), "taskSupport")) == "required"
	if string(f.RPC.Code) != "-32601" && !taskOnly {
		return
	}
	f.Hint = f.Method + " may only run as a job: rpcx job run starts it and waits for its result"
	job := *run.Line
	job.Path = []string{"job", "run"}
	job.Flags = slices.DeleteFunc(slices.Clone(job.Flags), func(flag string) bool {
		name, _, _ := strings.Cut(flag, "=")
		return slices.Contains([]string{"--grace", "--cache", "--no-cache"}, name) // jobs do not support these flags
	})
	f.Fix = job.WithArgs(job.Args)
}

var unknown = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b(unknown|no|not found|not exist)\b`) })

// isMethodUnknown reports whether an error's message names the method and calls it unknown.
func isMethodUnknown(f *wire.Fault) bool {
	before, after, ok := strings.Cut(f.RPC.Message, f.Method)
	return ok && f.Method != "" && unknown().MatchString(before+" "+after)
}

// nearestOf returns the method that a peer suggests in an error's data, or "".
func nearestOf(data json.RawMessage) string {
	return cmp.Or(scan.String(scan.Get(data, "nearest")), scan.String(scan.Get(data, "suggested_method")))
}

// values completes f, the failure of a call whose parameters the peer has refused, with JSON values in place of strings, if
// the peer names the parameter and the required type.
func values(run *env.Env, f *wire.Fault) {
	args := run.Line.Args
	rule, _ := scan.Text(scan.Get(f.RPC.Data, "rule"))
	if len(args) == 2 && (rule == "" || rule == "required") {
		f.Hint = "no parameters were given; give them as NAME=VALUE"
		return
	}
	better, reason := slices.Clone(args), f.RPC.Message+" "+string(f.RPC.Data)
	for i := min(2, len(args)); i < len(args); i++ {
		name, value, ok := strings.Cut(args[i], "=")
		if !ok || !params.IsTyped(args[i]) || !refused(reason, name, value) {
			continue
		}
		if better[i] = name + ":=" + value; f.Hint == "" {
			f.Hint = fmt.Sprintf("%s sends a string, %s the JSON value", params.Shown(args[i]), params.Shown(better[i]))
		}
	}
	if f.Hint != "" {
		f.Fix = run.Line.WithArgs(better)
	}
}

// typeNames lists, by scan.Type, peers' words for the required type.
var typeNames = map[byte]string{
	'n': "int|integer|number|numeric|float|double|decimal|[iu](8|16|32|64)|usize|f64", 't': "bool|boolean", 'f': "bool|boolean", '0': "null",
	'a': "array|list|sequence|slice|tuple", 'o': "object|map|mapping|dict|dictionary|struct|record",
}

// refused reports whether a peer's message names a parameter and the type that the parameter's text has as JSON.
func refused(reason, name, value string) bool {
	if scan.Valid([]byte(value), wire.DefaultMaxDepth) != nil {
		return false
	}
	types := typeNames[scan.Type([]byte(value))]
	mentions := func(pattern string) bool {
		return regexp.MustCompile(`(?i)(^|[^A-Za-z0-9_])(` + pattern + `)($|[^A-Za-z0-9_])`).MatchString(reason)
	}
	return types != "" && mentions(regexp.QuoteMeta(name)) && mentions(types)
}

// Name suggests the most similar of names, if any.
func Name(run *env.Env, f *wire.Fault, name string, names []string) {
	exact(run, f, catalog.Nearest(name, names))
}

// exact suggests the command line with name as METHOD, in the user's form.
func exact(run *env.Env, f *wire.Fault, name string) {
	if name == "" || !cmdline.IsSafeName(name) {
		return
	}
	args := run.Line.Args
	if run.Respell != nil && len(args) > 1 {
		name = run.Respell(args[1], name)
	}
	f.Hint = "did you mean " + name + "?"
	if len(args) > 1 {
		f.Fix = run.Line.WithArgs(slices.Concat(args[:1], []string{name}, args[2:]))
	}
}

// Spelling adds the command line with the dialect's form of the method, if known.
func Spelling(run *env.Env, err error) error {
	if better, ok := errors.AsType[*dialect.Misspelt](err); ok {
		exact(run, wire.AsFault(err), better.Method)
	}
	return err
}

// Params adds the command line with acceptable parameters, if known.
func Params(l *cmdline.CommandLine, err error) error {
	arg, ok := errors.AsType[*params.ArgError](err)
	f := wire.AsFault(err)
	if f == nil || !ok || len(l.Args) < 2 {
		return err
	}
	if hint, fix := misplacedWord(l, arg.Arg); hint != "" {
		return f.WithFix(hint, fix)
	}
	if arg.Args == nil {
		return err
	}
	return f.WithFix(f.Hint, l.WithArgs(slices.Concat(l.Args[:2], arg.Args)))
}
