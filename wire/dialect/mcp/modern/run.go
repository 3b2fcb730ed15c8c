package modern

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// gather is how long a question waits for further questions before the client receives it.
const gather = 30 * time.Millisecond

// A run is the execution of a hook that answers a call. To the hook, it is a connection. It can span several requests of the
// client: the result of one contains the hook's questions, and the next contains the responses.
type run struct {
	c      *Conn // the connection of its first request
	id     string
	method string
	about  dialect.Connection
	cancel context.CancelFunc
	clock  *dialect.Stopwatch // stops while no request is open

	mu        sync.Mutex
	change    wire.Gate   // opens at each change
	requests  []*request  // open requests, oldest first
	last      *request    // the latest request, which may no longer be open
	questions []*question // unanswered questions, oldest first
	count     int         // the number of questions so far
	task      *task       // nil unless the run is a task
	waiting   *time.Timer // ends a run that has waited too long for the client; nil unless the run waits

	// How the run ended.
	over   bool
	result json.RawMessage
	err    error
	why    *wire.Error // why the run was stopped, or which capability the client lacks; nil if neither
}

// A request is a client's request that a run answers.
type request struct {
	ctx    context.Context
	caller dialect.Caller
	params json.RawMessage
	task   bool // the call may become a task
}

// call answers a request with a hook: in a new run, or in the run whose questions the request answers.
func (c *Conn) call(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	req := &request{ctx: ctx, caller: c.conn.Caller, params: in.Msg.Params}
	what := digest(in.Msg.Method, in.Msg.Params)
	if answers := scan.Get(in.Msg.Params, "inputResponses"); answers != nil && scan.Type(answers) != 'o' {
		return nil, wire.NewError(wire.CodeInvalidParams, "inputResponses is not an object")
	}
	kept, id, err := c.opened(&in.Msg, what)
	if err != nil {
		return nil, err
	}
	if id != "" {
		r := c.s.runs.find(id)
		if r == nil {
			return nil, wire.NewError(wire.CodeInvalidParams, "the call that requested input has ended, or runs in another process")
		}
		if err := r.take(scan.Get(in.Msg.Params, "inputResponses")); err != nil {
			return nil, err
		}
		return r.await(req)
	}
	if req.task, err = c.isTask(&in.Msg); err != nil {
		return nil, err
	}
	r, err := c.s.begin(c, in, req, kept)
	if err != nil {
		return nil, err
	}
	result, err := r.await(req)
	if err == nil && !r.isAsking() && scan.String(scan.Get(result, "resultType")) == inputRequired {
		result, err = c.asked(&in.Msg, result, what)
	}
	return result, err
}

// begin starts the hook of a request. The hook receives the client's responses and kept, the state that an earlier hook
// printed, in a file.
func (s *Server) begin(c *Conn, in *dialect.Inbound, req *request, kept string) (*run, error) {
	file, err := writeInput(&in.Msg, kept)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{c: c, id: wire.RandomHex(16), method: in.Msg.Method, cancel: cancel, clock: &dialect.Stopwatch{}}
	about := *c.conn.Caller.Connection()
	about.Codec, about.SingleExchange = c.conn.Codec.Again(), true
	if file != "" {
		about.Vars = map[string]string{"RPCX_INPUT": file}
	}
	about.Answers = answers(&in.Msg)
	r.about, r.last, r.requests = about, req, []*request{req}
	m := in.Msg.Clone()
	m.Params, m.Err = ownMeta(m.Params), nil // the hook need not wait for a handshake
	ctx = dialect.WithStopwatch(dialect.WithFlowControl(ctx, r), r.clock)
	s.runs.byID.Store(r.id, r)
	s.wg.Go(func() {
		defer wire.Guard()
		defer s.runs.forget(r)
		h := s.host.Accept(r)
		result, err := h.Handle(ctx, &dialect.Inbound{Msg: m, Emit: func(wire.Event) error { return wire.ErrUnsupported }, Order: 1})
		r.end(result, err)
		_ = h.Close()
		if file != "" {
			_ = os.Remove(file)
		}
	})
	return r, nil
}

// runToken is the progress token that every hook receives. A message to the client contains the token of the request
// that is then open.
const runToken = "run"

// ownMeta removes from the params what belongs to a single request, and sets the run's own progress token and log
// level.
func ownMeta(params json.RawMessage) json.RawMessage {
	var o, m scan.Object
	o.Members(params, "_meta", "inputResponses", "requestState")
	m.Members(scan.Get(params, "_meta"), "progressToken", MetaLevel)
	m.Text("progressToken", runToken)
	m.Text(MetaLevel, levels[0])
	o.Add("_meta", m.End())
	return o.End()
}

// await returns the result for a request: the hook's result, the hook's questions to the client, or the task that the
// request becomes.
func (r *run) await(req *request) (json.RawMessage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.requests, req) {
		r.requests = append(r.requests, req)
	}
	r.last = req
	r.resumeLocked()
	var t timers
	if req.task {
		t.grace = time.After(taskGrace)
	}
	for !r.over {
		asks, slow := r.nextLocked(req, &t)
		switch {
		case r.over:
		case asks && len(r.questions) > 0:
			return r.askLocked(req)
		case slow:
			return r.becomeTaskLocked(req)
		case req.ctx.Err() != nil: // the client has cancelled the request
			if r.detachLocked(req); len(r.requests) == 0 && r.waiting == nil && r.task == nil {
				r.cancel()
			}
			return nil, req.ctx.Err()
		}
	}
	r.detachLocked(req)
	return r.resultLocked()
}

// timers are the timers of an open request. A nil channel means that the timer is not running.
type timers struct{ questions, grace <-chan time.Time }

// nextLocked waits for a change of an open request, or its end. asks reports that the round's time to collect questions has
// passed, and slow that the call becomes a task. The caller holds the lock.
func (r *run) nextLocked(req *request, t *timers) (asks, slow bool) {
	switch {
	case len(r.questions) == 0:
		t.questions = nil
	case req.task:
		return false, true
	case t.questions == nil:
		t.questions = time.After(gather)
	}
	change := r.change.Wait()
	r.mu.Unlock()
	defer r.mu.Lock()
	select {
	case <-change:
	case <-t.questions:
		return true, false
	case <-t.grace:
		return false, true
	case <-req.ctx.Done():
	}
	return false, false
}

// isAsking reports whether the run continues. If it does, the result of await contains the run's questions, not those
// that a hook printed.
func (r *run) isAsking() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.over
}

func (r *run) detachLocked(req *request) {
	r.requests = slices.DeleteFunc(r.requests, func(o *request) bool { return o == req })
}

// askLocked answers a request with the run's questions. The caller holds the lock.
func (r *run) askLocked(req *request) (json.RawMessage, error) {
	r.detachLocked(req)
	if len(r.requests) == 0 {
		if err := r.waitLocked(); err != nil {
			return nil, err
		}
	}
	var o scan.Object
	o.Text("resultType", inputRequired)
	o.Add("inputRequests", r.questionsLocked())
	o.Text("requestState", r.c.s.seal.close(ofRun+r.id, r.c.identity, digest(r.method, req.params), r.c.s.runs.wait))
	return o.End(), nil
}

func (r *run) end(result json.RawMessage, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over, r.result, r.err = true, result, err
	for _, q := range r.questions {
		close(q.done)
	}
	r.questions = nil
	r.resumeLocked()
	r.taskChangedLocked()
	r.change.Pass()
}

func (r *run) resultLocked() (json.RawMessage, error) {
	if r.why != nil && (r.err != nil || string(scan.Get(r.result, "isError")) == "true") {
		return nil, r.why
	}
	return r.result, r.err
}
