package modern

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// take passes the client's responses to the questions with their keys. It ignores responses to unknown questions.
func (r *run) take(answers json.RawMessage) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	given := map[*question]json.RawMessage{}
	for _, q := range r.questions {
		if answer := scan.Get(answers, q.key); answer != nil {
			if !fits(q.method, answer) {
				return wire.NewError(wire.CodeInvalidParams, "inputResponses: "+q.key+" is not a result of "+q.method)
			}
			given[q] = answer
		}
	}
	r.questions = slices.DeleteFunc(r.questions, func(q *question) bool { return given[q] != nil })
	for q, answer := range given {
		q.result = slices.Clone(answer)
		close(q.done)
	}
	if r.task != nil && len(r.questions) == 0 {
		r.resumeLocked()
		r.taskChangedLocked()
	}
	return nil
}

func (r *run) questionsLocked() []byte {
	var o scan.Object
	for _, q := range r.questions {
		var request scan.Object
		request.Text("method", q.method)
		request.Add("params", q.params)
		o.Add(q.key, request.End())
	}
	return o.End()
}

// A question is a request from a hook to the client. It implements dialect.Stream, with one response.
type question struct {
	run    *run
	key    string
	method string
	params json.RawMessage
	done   chan struct{}   // closed when the question is answered or the run ends
	result json.RawMessage // the result, or nil
	read   bool
}

// Next returns the response, and io.EOF after that.
func (q *question) Next(ctx context.Context) (wire.Message, error) {
	if q.read {
		return wire.Message{}, io.EOF
	}
	select {
	case <-q.done:
	case <-ctx.Done():
		return wire.Message{}, ctx.Err()
	}
	if q.result == nil {
		return wire.Message{}, wire.NewFault(wire.Closed, "the call has ended", nil)
	}
	q.read = true
	var o scan.Object
	o.Text("jsonrpc", "2.0")
	o.Text("id", q.key)
	o.Add("result", q.result)
	return wire.Message{Kind: wire.Response, ID: wire.ID(strconv.Quote(q.key)), Final: true, Method: q.method, Body: q.result, Raw: o.End()}, nil
}

// Cancel withdraws the question.
func (q *question) Cancel(context.Context) error {
	q.run.mu.Lock()
	defer q.run.mu.Unlock()
	q.run.questions = slices.DeleteFunc(q.run.questions, func(o *question) bool { return o == q })
	return nil
}
