package codec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// A pending is a request from the peer whose hook is running on a client. If the local call is cancelled, the dialect file
// provides the response.
type pending struct {
	msg    *wire.Message
	cancel context.CancelFunc
	answer json.RawMessage // the dialect file's response after the local call was cancelled, or nil
}

// Answer returns the response to m, a request from the peer: the result of answer. If the local call is cancelled first, the context
// of answer ends, and the response is the one that the dialect file defines.
func (c *Codec) Answer(ctx context.Context, m *wire.Message, answer func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	result, err := c.answerPending(ctx, m, answer)
	if c.o.Serving || err != nil {
		return result, err
	}
	return c.flow.Complete(m, result), nil
}

func (c *Codec) answerPending(ctx context.Context, m *wire.Message, answer func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	if c.o.Serving || c.d.Page.Cancel == nil || c.d.Page.Cancel.Pending[m.Method] == nil {
		return answer(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &pending{msg: m, cancel: cancel}
	c.mu.Lock()
	c.pendings[p] = true
	c.mu.Unlock()
	result, err := answer(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pendings, p)
	if p.answer != nil {
		return p.answer, nil
	}
	return result, err
}

// settlePending answers pending requests from the peer when the local call s is cancelled.
func (c *Codec) settlePending(s *call) error {
	sc := c.scope(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := range c.pendings {
		answer, err := c.d.Page.Cancel.Pending[p.msg.Method].First(p.msg.Params, sc.Value)
		if err != nil {
			return err
		}
		if answer != nil {
			p.answer = bytes.Clone(answer)
			p.cancel()
		}
	}
	return nil
}

// Answers runs hooks, concurrently, for requests, an object of {method, params} by name, except for those whose names are
// in answered. It returns an object with the results by the same names, or nil if answered contains all names.
func (c *Codec) Answers(ctx context.Context, caller dialect.Caller, requests json.RawMessage, answered map[string]bool) (json.RawMessage, error) {
	ask := caller.Connection().Ask
	var names []string
	var asked []json.RawMessage
	for name, req := range scan.Named(requests) {
		if !answered[name] {
			names, asked = append(names, name), append(asked, req)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make([]json.RawMessage, len(names))
	var running sync.WaitGroup
	var failing sync.Once
	var failed error
	for i, name := range names {
		running.Go(func() {
			defer wire.Guard()
			method, params := scan.String(scan.Get(asked[i], "method")), scan.Get(asked[i], "params")
			err := wire.ErrUnsupported
			if ask != nil {
				results[i], err = ask(ctx, name, method, params)
			}
			if isUnanswered(err) {
				err = c.flow.Unanswered(method, params)
			}
			if err != nil {
				failing.Do(func() { failed = err })
				cancel()
			}
		})
	}
	running.Wait()
	if failed != nil {
		return nil, failed
	}
	var all scan.Object
	for i, name := range names {
		all.Add(name, scan.OrNull(results[i]))
	}
	return all.End(), nil
}

// isUnanswered reports whether err means that no hook answers a request.
func isUnanswered(err error) bool {
	e, ok := errors.AsType[*wire.Error](err)
	return errors.Is(err, wire.ErrUnsupported) || ok && string(e.Code) == "-32601" && e.Raw == nil
}
