package request

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/params"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/scan"
	"rpcx/wire/session"
	"rpcx/wire/transport"
)

// Suggest adds to the failure of a call the command line with the right method,
// where the peer or the catalog names one that is near, or with parameters that the peer
// may take.
func Suggest(run *env.Env, f *wire.Fault, cat *catalog.Catalog) {
	if f.RPC != nil && f.Hint == "" && string(f.RPC.Code) == "-32602" {
		suggestValues(run, f)
		return
	}
	if cat != nil {
		suggestJob(run, f, cat.Method(f.Method))
	}
	if f.RPC == nil || f.Hint != "" || string(f.RPC.Code) != "-32601" && f.RPC.Kind != "unknown_command" {
		return
	}
	if cat != nil {
		SuggestName(run, f, f.Method, cat.Names())
	}
	if f.Hint == "" {
		suggestExact(run, f, nearestOf(f.RPC.Data))
	}
}

// wantsJob reports whether a call may have been refused because the method is a job: there is
// no such call, or the words of the error are about that.
func wantsJob(f *wire.Fault) bool {
	return f.RPC != nil && f.Hint == "" && (string(f.RPC.Code) == "-32601" || strings.Contains(f.RPC.Message, "task"))
}

// jobs returns what the peer says of a method whose call may have been refused because it is a
// job; nil where jobs are no calls of their own.
func (c *ResponsePrinter) jobs(f *wire.Fault) *catalog.Catalog {
	if jobs := all.Named(c.conv.Dialect()).Jobs; !wantsJob(f) || jobs == nil || jobs.Call == nil {
		return nil
	}
	ctx, done := context.WithTimeout(c.deadline.Ctx, descriptionTimeout)
	defer done()
	cat, err := c.conv.Typing(ctx, f.Method)
	if err != nil {
		return nil
	}
	return cat
}

// isTaskOnly reports whether the peer runs a method as a task and in no other way.
func isTaskOnly(m *catalog.Method) bool {
	return scan.String(scan.Get(scan.Get(m.Extra, "execution"), "taskSupport")) == "required"
}

// suggestJob adds to the failure of a call the command that runs the method as a job, where
// the peer lists it as one and refuses to be called.
func suggestJob(run *env.Env, f *wire.Fault, m *catalog.Method) {
	if f.RPC == nil || f.Hint != "" || m == nil || m.Kind != catalog.Job || string(f.RPC.Code) != "-32601" && !isTaskOnly(m) {
		return
	}
	if !slices.Equal(run.Line.Path, []string{"call"}) || len(run.Line.Args) < 2 {
		return
	}
	f.Hint = f.Method + " can be a job, and may be nothing else: rpcx job run begins it and waits for what it comes to"
	job := *run.Line
	job.Path = []string{"job", "run"}
	job.Flags = slices.DeleteFunc(slices.Clone(job.Flags), func(flag string) bool {
		name, _, _ := strings.Cut(flag, "=")
		return slices.Contains([]string{"--grace", "--cache", "--no-cache"}, name) // a job has none of them
	})
	f.Fix = job.WithArgs(job.Args)
}

// nearestOf returns the method that a peer suggests in the data of an error; "" if
// none.
func nearestOf(data json.RawMessage) string {
	if scan.Type(data) != 'o' {
		return ""
	}
	for _, member := range []string{"nearest", "suggested_method"} {
		if name, ok := scan.Text(scan.Get(data, member)); ok {
			return name
		}
	}
	return ""
}

// suggestValues adds what to type to the failure of a call whose parameters the peer refuses: the numbers, truth values
// and nulls among them that were sent as texts, if it names them or there is but one.
func suggestValues(run *env.Env, f *wire.Fault) {
	args := run.Line.Args
	switch rule, _ := scan.Text(scan.Get(f.RPC.Data, "rule")); {
	case len(args) == 2 && (rule == "" || rule == "required"):
		f.Hint = "no parameters were given: NAME=VALUE gives one"
		return
	case rule != "" && rule != "type":
		return
	}
	named := suspects(args, string(f.RPC.JSON()))
	if len(named) == 0 {
		return
	}
	better := slices.Clone(args)
	for _, i := range named {
		name, value, _ := strings.Cut(args[i], "=")
		better[i] = name + ":=" + value
	}
	f.Hint = fmt.Sprintf("%s is sent as a text, %s as what it looks like", args[named[0]], better[named[0]])
	f.Fix = run.Line.WithArgs(better)
}

// suspects returns the indexes of the parameters that were sent as texts and look like other values: those
// whose names are in reason, or the only one.
func suspects(args []string, reason string) []int {
	var texts, named []int
	for i := 2; i < len(args); i++ {
		name, value, ok := strings.Cut(args[i], "=")
		if !ok || strings.HasSuffix(name, ":") || strings.HasSuffix(name, "@") || !isScalar(value) {
			continue
		}
		texts = append(texts, i)
		if strings.Contains(reason, name) {
			named = append(named, i)
		}
	}
	if len(named) == 0 && len(texts) == 1 {
		return texts
	}
	return named
}

// isScalar reports whether a parameter's text looks like a number, a truth value or null.
func isScalar(value string) bool {
	return scan.Valid([]byte(value), 1) == nil && strings.IndexByte("ntf0", scan.Type([]byte(value))) >= 0
}

// SuggestName suggests the nearest of names, if one is near.
func SuggestName(run *env.Env, f *wire.Fault, name string, names []string) {
	suggestExact(run, f, catalog.Nearest(name, names))
}

// suggestMethod adds the nearest method of a catalog to a failure.
func suggestMethod(run *env.Env, err error, method string, cat *catalog.Catalog) error {
	f := wire.AsFault(err)
	if f == nil || cat.Method(method) != nil {
		return err
	}
	g := *f
	SuggestName(run, &g, method, cat.Names())
	return &g
}

// suggestExact suggests the command line with name as METHOD, spelt as the user
// would.
func suggestExact(run *env.Env, f *wire.Fault, name string) {
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

// suggestSpelling adds the command line in which the method is spelt as the
// dialect spells it, if that is known.
func suggestSpelling(run *env.Env, err error) error {
	var better *dialect.Misspelt
	f := wire.AsFault(err)
	if f == nil || !errors.As(err, &better) {
		return err
	}
	g := *f
	suggestExact(run, &g, better.Method)
	return &g
}

// suggestParams adds the command line with parameters that would be accepted,
// if they are known.
func suggestParams(l *cmdline.CommandLine, err error) error {
	var arg *params.ArgError
	f := wire.AsFault(err)
	if f == nil || !errors.As(err, &arg) || arg.Args == nil || len(l.Args) < 2 {
		return err
	}
	g := *f
	g.Fix = l.WithArgs(slices.Concat(l.Args[:2], arg.Args))
	return &g
}

// suggestEndpoint adds to the failure to read an endpoint the command line with the one that was probably meant.
func suggestEndpoint(l *cmdline.CommandLine, err error) error {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Usage || f.Fix != nil {
		return err
	}
	g := *f
	if len(l.Args) > 1 && !strings.Contains(l.Args[0], ":") && isEndpoint(l.Args[1]) {
		g.Hint = "the endpoint stands before the method"
		g.Fix = l.WithArgs(slices.Concat([]string{l.Args[1], l.Args[0]}, l.Args[2:]))
		return &g
	}
	if better := meant(l.Args[0], f); better != "" {
		if g.Hint != better {
			g.Hint = fmt.Sprintf("did you mean %s?", better)
		}
		g.Fix = l.WithArgs(slices.Concat([]string{better}, l.Args[1:]))
		return &g
	}
	return err
}

// meant returns what typed should probably be; "" where that is not known. It is an endpoint.
func meant(typed string, f *wire.Fault) string {
	var shell transport.NeedsShell
	if errors.As(f, &shell) {
		prefix, _ := strings.CutSuffix(typed, shell.Command)
		return prefix + shell.Better
	}
	guesses := []string{strings.TrimSuffix(strings.TrimPrefix(f.Hint, "did you mean "), "?")}
	if scheme, rest, ok := strings.Cut(typed, "//"); ok {
		guesses = append(guesses, strings.TrimRight(scheme, ":")+"://"+rest)
	}
	for _, guess := range guesses {
		if guess != typed && !strings.Contains(guess, " ") && isEndpoint(guess) {
			return guess
		}
	}
	return ""
}

// isEndpoint reports whether word can be nothing but an endpoint that is well written.
func isEndpoint(word string) bool {
	_, err := session.ParseEndpoint(word, "")
	return err == nil
}
