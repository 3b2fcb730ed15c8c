package hotrepl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// errEvalTime is why an evaluation ends that takes too long.
var errEvalTime = errors.New("out of time")

// A printout is what code has printed, as far as there is room for it.
type printout struct {
	text []byte
	most int
}

// Write keeps what there is room for.
func (p *printout) Write(b []byte) (int, error) {
	p.text = append(p.text, b[:min(len(b), p.most-len(p.text))]...)
	return len(b), nil
}

// evaluate runs code for a client; ms is how long it may take, 0 the host's usual
// time. What the code prints goes to out, which may be nil.
func (s *server) evaluate(ctx context.Context, h *handler, code string, ms int, out io.Writer) (json.RawMessage, error) {
	if s.runtime == nil {
		return nil, envelope{kindUnsupported, "evaluatorMissing", "Nothing evaluates code here: the host has no runtime.", false, nil}
	}
	if ms <= 0 {
		ms = s.cfg.limits.DefaultEvalTimeoutMs
	}
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(ms)*time.Millisecond, errEvalTime)
	defer cancel()
	value, err := s.runtime.Eval(ctx, dialect.Evaluation{
		Session: stateName, Code: code, Names: s.bindings(), Invoke: h.invoke, Printed: out,
	})
	if err != nil {
		return nil, evalError(ctx, err, ms)
	}
	value = s.cut(value)
	if most := s.cfg.limits.MaxResultLength; len(value) > most {
		return nil, envelope{kindInternal, codeTooLarge, fmt.Sprintf("The value has %d bytes; the host sends %d at most.", len(value), most), false, nil}
	}
	return value, nil
}

// evalError is an envelope for whatever ended an evaluation.
func evalError(ctx context.Context, err error, ms int) envelope {
	var own envelope
	var failed *dialect.EvalError
	switch cause := context.Cause(ctx); {
	case errors.As(err, &own):
		return own
	case cause == errEvalTime:
		return envelope{kindTimeout, codeEvalTimeout, fmt.Sprintf("Eval timed out after %d ms.", ms), false, nil}
	case cause == errReset:
		return envelope{kindCancelled, codeCancelled, "Reset in progress.", false, nil}
	case cause != nil:
		return envelope{kindCancelled, codeCancelled, "Eval was cancelled.", false, nil}
	case errors.As(err, &failed) && failed.Compile:
		return envelope{kindValidation, "compileError", failed.Message, false, nil}
	case errors.As(err, &failed):
		return envelope{kindInternal, "runtimeException", failed.Message, false, about(failed)}
	}
	return envelope{kindInternal, "runtimeException", wire.AsError(err).Message, false, nil}
}

// about are the details of code that failed, as far as its runtime tells them.
func about(e *dialect.EvalError) json.RawMessage {
	b := build("")
	if e.Kind != "" {
		b = b.text("kind", e.Kind)
	}
	if e.Stack != "" {
		b = b.text("stack", e.Stack)
	}
	if len(b) == 1 {
		return nil
	}
	return b.end()
}

// cut is a value with no more elements than the host sends.
func (s *server) cut(value json.RawMessage) json.RawMessage {
	if value == nil {
		return json.RawMessage("null")
	}
	if scan.Type(value) != 'a' {
		return value
	}
	n, b := 0, []byte{'['}
	in := scan.Array(value, 2*wire.DefaultMaxDepth)
	for _, val, ok := in.Next(); ok; _, val, ok = in.Next() {
		if n == s.cfg.limits.MaxEnumerableElements {
			return append(b, ']')
		}
		if n++; n > 1 {
			b = append(b, ',')
		}
		b = append(b, val...)
	}
	return value
}

// bindings are the commands that code can call.
func (s *server) bindings() []string { return s.b.Catalog().Names() }

// invoke calls a command for code.
func (h *handler) invoke(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error) {
	if _, ok := h.r.Kind(name); !ok {
		return nil, wire.Errorf(wire.CodeNoMethod, "unknown command: %s", name)
	}
	return h.r.Respond(ctx, dialect.Request{Method: name, Params: input})
}

// eval runs an eval and answers it.
func (s *server) eval(r *running) {
	r.begun = time.Now()
	code, _ := scan.Text(scan.Get(r.msg.Raw, "code"))
	out := &printout{most: s.cfg.limits.MaxResultLength}
	value, err := s.evaluate(r.ctx, r.h, code, number(scan.Get(r.msg.Raw, "timeoutMs")), out)
	var failed envelope
	if errors.As(err, &failed) {
		s.evalFailed(r, failed)
		return
	}
	s.journal.add("eval", entry{id: r.msg.ID, code: code, begun: r.begun, ok: true})
	b := build(typeEvalResult).id(r.msg.ID).value(value)
	if len(out.text) > 0 {
		b = b.text("stdout", string(out.text))
	}
	r.h.send(b.took(r.begun).end())
}

func (s *server) evalFailed(r *running, e envelope) {
	code, _ := scan.Text(scan.Get(r.msg.Raw, "code"))
	s.journal.add("eval", entry{id: r.msg.ID, code: code, begun: r.begun, kind: e.kind})
	r.h.send(build(typeEvalError).id(r.msg.ID).raw("error", e.json()).end())
}

// cancelledEval is the answer to an eval that never ran.
func cancelledEval(r *running) envelope { return evalError(r.ctx, r.ctx.Err(), 0) }

// reset forgets what code has set. Evals that wait are cancelled, and
// subscriptions ended, before it is answered.
func (s *server) reset(t task) {
	begun := time.Now()
	s.mu.Lock()
	evals, watches := s.evals, s.watches
	s.evals, s.watches = nil, nil
	s.mu.Unlock()
	for _, r := range evals {
		r.cancel(errReset)
		s.evalFailed(r, cancelledEval(r))
	}
	for _, w := range watches {
		w.cancel()
		w.fail(envelope{kindCancelled, codeCancelled, "Reset in progress.", false, nil}, true)
	}
	if s.runtime != nil {
		s.runtime.Forget(stateName)
	}
	s.journal.add("command", entry{id: t.msg.ID, name: "reset", begun: begun, ok: true})
	t.h.send(build(typeResetResult).id(t.msg.ID).raw("success", []byte("true")).end())
}

// word is the name that code ends with, which is to be completed.
var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[$A-Za-z_][A-Za-z0-9_]*$`) })

// complete answers with the names that begin as the code does before the cursor:
// bindings, then what the runtime has by itself.
func (s *server) complete(t task) {
	begun := time.Now()
	code, _ := scan.Text(scan.Get(t.msg.Raw, "code"))
	if at := scan.Get(t.msg.Raw, "cursor"); at != nil {
		if n := number(at); n < len([]rune(code)) {
			code = string([]rune(code)[:n])
		}
	}
	begin := word().FindString(code)
	names := s.bindings()
	if c, ok := s.runtime.(dialect.Completer); ok {
		names = append(names, c.Completions()...)
	}
	found := []string{}
	for _, name := range names {
		if strings.HasPrefix(name, begin) && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	list, _ := json.Marshal(found)
	t.h.send(build(typeCompleteResult).id(t.msg.ID).raw("completions", list).took(begun).end())
}
