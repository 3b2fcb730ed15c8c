package server

import (
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// A stream is a stream that we write.
type stream struct {
	rule   *load.Subscribe
	scope  *program.Scope // the variables of its request, with the answer as Result
	cancel context.CancelFunc
}

// stream answers a request with the data of a hook: the first as the result, if
// the page says so, the others as items, until the hook ends or the client ends
// the stream.
func (h *handler) stream(ctx context.Context, in *dialect.Inbound, r dialect.Request, name string, rule *load.Subscribe) (json.RawMessage, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &stream{rule: rule, scope: h.of(&in.Msg), cancel: cancel}
	serve, told := h.d.Page.Serve.Subscribe[name], h.teller(ctx, &in.Msg)
	defer told.end()
	open := func(result json.RawMessage) error {
		s.scope.Result = result
		if !rule.First && serve.Result != nil {
			answer, err := serve.Result.First(in.Msg.Params, s.scope.Value)
			if err != nil {
				return err
			}
			result = answer
			s.scope.Result = answer
		}
		in.Answered = true
		h.add(s)
		return in.Emit(wire.Event{Kind: wire.Data, Data: result})
	}
	defer h.remove(s)
	r.Stream = true
	if !rule.First {
		r.Begin = func() error { return open(nil) }
	}
	r.Emit = func(ev wire.Event) error {
		switch {
		case ev.Kind == wire.Failure && !in.Answered:
			return ev.Err
		case ev.Kind != wire.Data:
			return told.event(ev)
		case !in.Answered:
			return open(ev.Data)
		}
		sc := *s.scope
		sc.Event = ev.Data
		params := ev.Data
		if serve.Params != nil {
			var err error
			if params, err = serve.Params.First(ev.Data, sc.Value); err != nil {
				return err
			}
		}
		method := rule.Item.Method
		if serve.Method != nil {
			name, err := serve.Method.First(ev.Data, sc.Value)
			if err != nil {
				return err
			}
			method = scan.String(name)
		}
		return h.caller.Notify(ctx, dialect.Op{Kind: dialect.Notify, Method: method, Params: params, Extra: sc.Extra})
	}
	_, err := h.r.Respond(ctx, r)
	if in.Answered {
		return nil, nil
	}
	if err == nil {
		err = open(nil)
	}
	return nil, err
}

func (h *handler) add(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.streams[s] = true
}

func (h *handler) remove(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, s)
}

// ends ends the streams that a message of the client names. It reports whether
// the message is one with which streams are ended.
func (h *handler) ends(m *wire.Message) (mine bool, err error) {
	for _, rule := range h.d.Page.Subscribe {
		if rule.End != nil && (rule.End.Call == m.Method || rule.End.Notify == m.Method) {
			mine = true
		}
	}
	if !mine {
		return false, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.streams {
		if end := s.rule.End; end == nil || end.Call != m.Method && end.Notify != m.Method {
			continue
		}
		params, err := s.rule.End.Params.First(s.scope.Result, s.scope.Value)
		if err != nil {
			return true, err
		}
		if scan.Equal(scan.OrNull(params), scan.OrNull(m.Params)) {
			s.cancel()
		}
	}
	return true, nil
}
