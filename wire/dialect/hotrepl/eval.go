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

// errEvalTime is the cause of a context that ended at the time limit of an evaluation.
var errEvalTime = errors.New("the evaluation timed out")

// A printout collects the output of code, up to most bytes.
type printout struct {
	text []byte
	most int
}

// Write stores what fits and drops the rest. It never fails.
func (p *printout) Write(b []byte) (int, error) {
	p.text = append(p.text, b[:min(len(b), p.most-len(p.text))]...)
	return len(b), nil
}

// evaluate runs code for at most ms milliseconds (0: the host's defaultEvalTimeoutMs). out receives the code's output
// and may be nil. evaluate returns nil for code without a value, such as a statement.
func (s *server) evaluate(ctx context.Context, h *handler, code string, ms int, out io.Writer) (json.RawMessage, *wire.Error) {
	if s.runtime == nil {
		return nil, newError(kindUnsupported, "evaluatorMissing", "The host has no runtime to evaluate code.")
	}
	if ms <= 0 {
		ms = s.cfg.limits.DefaultEvalTimeoutMs
	}
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(ms)*time.Millisecond, errEvalTime)
	defer cancel()
	value, err := s.runtime.Eval(ctx, dialect.Code{
		Session: sessionName, Code: code, Names: s.b.Catalog().Names(), Invoke: h.invoke, Printed: out,
	})
	if err != nil {
		return nil, evalError(ctx, err, ms)
	}
	value = s.cut(value)
	if most := s.cfg.limits.MaxResultLength; len(value) > most {
		return nil, newError(kindInternal, codeTooLarge, fmt.Sprintf("The value has %d bytes; the host sends at most %d.", len(value), most))
	}
	return value, nil
}

// evalError converts the error err of an evaluation in ctx to an error for the client. ms is the evaluation's time limit.
func evalError(ctx context.Context, err error, ms int) *wire.Error {
	failed, ok := errors.AsType[*dialect.EvalError](err)
	switch cause := context.Cause(ctx); {
	case cause == errEvalTime:
		return newError(kindTimeout, codeEvalTimeout, fmt.Sprintf("Eval timed out after %d ms.", ms))
	case cause != nil:
		return cancelledEval("Eval was cancelled.")
	case ok && failed.Compile:
		return newError(kindValidation, "compileError", failed.Message)
	case ok:
		e := newError(kindInternal, codeException, failed.Message)
		var about scan.Object // what the runtime reports
		about.SomeText("kind", failed.Kind)
		about.SomeText("stack", failed.Stack)
		e.Data = about.EndOrNil()
		return e
	}
	return newError(kindInternal, codeException, wire.AsError(err).Message)
}

// cut shortens an array to maxEnumerableElements. As on other hosts (see the dialect's specification), the message does
// not mention the cut.
func (s *server) cut(value json.RawMessage) json.RawMessage {
	var kept scan.Array
	n := 0
	for val := range scan.Elements(value) {
		if n == s.cfg.limits.MaxEnumerableElements {
			return kept.End()
		}
		n++
		kept.Add(val)
	}
	return value
}

func (h *handler) invoke(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error) {
	if _, ok := h.r.Kind(name); !ok {
		return nil, wire.Errorf(wire.CodeNoMethod, "unknown command: %s", name)
	}
	return h.r.Respond(ctx, dialect.Request{Method: name, Params: input})
}

func (s *server) eval(r *running) {
	code, _ := scan.Text(scan.Get(r.msg.Raw, "code"))
	out := &printout{most: s.cfg.limits.MaxResultLength}
	value, err := s.evaluate(r.ctx, r.h, code, number(scan.Get(r.msg.Raw, "timeoutMs")), out)
	if err != nil {
		s.evalFailed(r.task, r.begun, err)
		return
	}
	s.journal.add(entry{kind: "eval", id: r.msg.ID, code: code, begun: r.begun})
	b := build(typeEvalResult).id(r.msg.ID).value(value)
	b.o.SomeText("stdout", string(out.text))
	r.h.send(b.duration(r.begun).end())
}

func (s *server) evalFailed(t task, begun time.Time, e *wire.Error) {
	code, _ := scan.Text(scan.Get(t.msg.Raw, "code"))
	s.journal.add(entry{kind: "eval", id: t.msg.ID, code: code, begun: begun, failure: e.Kind})
	t.h.send(build(typeEvalError).id(t.msg.ID).raw("error", errorJSON(e)).end())
}

// cancelledEval returns the error of a cancelled evaluation.
func cancelledEval(message string) *wire.Error {
	return newError(kindCancelled, codeCancelled, message)
}

const resetting = "Reset in progress."

// reset answers a reset. It cancels queued evals and ends subscriptions before it drops the evaluator's state and
// answers.
func (s *server) reset(t task) {
	begun := time.Now()
	evals, watches := s.queue.reset()
	for _, eval := range evals {
		s.evalFailed(eval, begun, cancelledEval(resetting))
	}
	for _, w := range watches {
		w.cancel()
		w.seq++
		w.fail(cancelledEval(resetting), true)
	}
	if s.runtime != nil {
		s.runtime.Forget(sessionName)
	}
	s.journal.add(entry{kind: "command", id: t.msg.ID, name: "reset", begun: begun})
	t.h.send(build(typeResetResult).id(t.msg.ID).raw("success", []byte("true")).end())
}

// word matches the partial name at the end of code, including dots.
var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[$A-Za-z_][A-Za-z0-9_.]*$`) })

// complete answers with the names that begin with the partial name before the cursor: commands first, then the
// runtime's names. After a dot, it returns only the rest of a name, as in the specification's example, where
// "productName" completes "Application.pro".
func (s *server) complete(t task) {
	begun := time.Now()
	code, _ := scan.Text(scan.Get(t.msg.Raw, "code"))
	if at := scan.Get(t.msg.Raw, "cursor"); at != nil {
		if n := number(at); n < len([]rune(code)) {
			code = string([]rune(code)[:n])
		}
	}
	begin := word().FindString(code)
	names := s.b.Catalog().Names()
	if s.runtime != nil {
		names = append(names, s.runtime.Completions()...)
	}
	behind := strings.LastIndexByte(begin, '.') + 1
	found := completions(names, begin, behind)
	if len(found) == 0 && behind > 0 { // try without the owner before the dot
		found = completions(names, begin[behind:], 0)
	}
	t.h.send(build(typeCompleteResult).id(t.msg.ID).raw("completions", scan.JSON(found)).duration(begun).end())
}

// completions returns the names that start with begin, without their first skip bytes and without duplicates.
func completions(names []string, begin string, skip int) []string {
	found := []string{}
	for _, name := range names {
		if strings.HasPrefix(name, begin) && !slices.Contains(found, name[skip:]) {
			found = append(found, name[skip:])
		}
	}
	return found
}
