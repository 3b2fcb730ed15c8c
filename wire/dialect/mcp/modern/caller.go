package modern

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// Open sends a question to the client.
func (r *run) Open(_ context.Context, op dialect.Op) (dialect.Stream, error) {
	if op.Kind != dialect.Call && op.Kind != dialect.Internal {
		return nil, wire.ErrUnsupported
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return nil, wire.NewFault(wire.Closed, "the call has ended", nil)
	}
	if !slices.Contains(asking, r.method) {
		return nil, wire.Errorf(wire.CodeNoMethod, "a hook cannot call the client during %s", r.method)
	}
	if e := lacking(meta(r.last.params, MetaCapabilities), op.Method, op.Params); e != nil {
		if string(e.Code) == strconv.Itoa(CodeCapability) {
			r.why = e
		}
		return nil, e
	}
	r.count++
	q := &question{run: r, key: "q" + strconv.Itoa(r.count), method: op.Method, params: slices.Clone(op.Params), done: make(chan struct{})}
	r.questions = append(r.questions, q)
	r.change.Pass()
	return q, r.askTaskLocked()
}

// Call sends a question to the client and returns the result.
func (r *run) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return r.CallOp(ctx, dialect.Op{Kind: dialect.Call, Method: method, Params: params})
}

// CallOp is like Call, but for an operation.
func (r *run) CallOp(ctx context.Context, op dialect.Op) (json.RawMessage, error) {
	st, err := r.Open(ctx, op)
	if err != nil {
		return nil, err
	}
	m, err := st.Next(ctx)
	if err != nil {
		_ = st.Cancel(ctx)
		return nil, err
	}
	return m.Body, nil
}

// Notify sends progress and log entries on the stream of the latest open request, and other notifications to listeners.
func (r *run) Notify(ctx context.Context, op dialect.Op) error {
	switch op.Method {
	case progress, "notifications/message":
	default:
		r.c.s.listeners.notify(op.Method, op.Params)
		return nil
	}
	r.mu.Lock()
	r.progressLocked(&op)
	var to *request
	if n := len(r.requests); n > 0 {
		to = r.requests[n-1]
	}
	r.mu.Unlock()
	if to == nil {
		return nil
	}
	if op.Method == "notifications/message" {
		if !wants(meta(to.params, MetaLevel), scan.Get(op.Params, "level")) {
			return nil
		}
	} else if token := meta(to.params, "progressToken"); token == nil {
		return nil
	} else if given, _ := scan.Text(scan.Get(op.Params, "progressToken")); given == runToken {
		op.Params = scan.Splice(op.Params, "progressToken", token)
	}
	op.About = nil
	return to.caller.Notify(to.ctx, op)
}

// wants reports whether a client that requested log entries from the level asked receives those of level.
func wants(asked, level json.RawMessage) bool {
	most, ok := scan.Text(asked)
	return ok && slices.Index(levels, most) <= slices.Index(levels, scan.String(level))
}

// CloseWith ends the run.
func (r *run) CloseWith(int, string) error {
	r.stop(wire.NewError(wire.CodeServer, "the connection was closed"))
	return nil
}

// Connection describes the run as a connection.
func (r *run) Connection() *dialect.Connection { return &r.about }

// Await implements dialect.FlowControl for the latest open request.
func (r *run) Await() error { return r.room().Await() }

// Free implements dialect.FlowControl.
func (r *run) Free() bool { return r.room().Free() }

// Request returns nil, because a hook's questions belong to its run.
func (r *run) Request() wire.ID { return nil }

func (r *run) room() dialect.FlowControl {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.requests); n > 0 {
		return dialect.FlowControlOf(r.requests[n-1].ctx)
	}
	return dialect.FlowControlOf(context.Background())
}
