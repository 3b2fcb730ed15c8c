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

// gather is how long a question waits for others before the client receives it.
const gather = 30 * time.Millisecond

// A run is a call that a hook answers. For the hook, it is a connection. Successive requests of the client carry it: the hook's
// questions are the result of one request, and the next request contains the responses.
type run struct {
	c      *Conn // the connection of its first request
	id     string
	method string
	about  dialect.Connection
	cancel context.CancelFunc
	clock  *dialect.Stopwatch // the hook's clock, which stops while no request is open

	mu        sync.Mutex
	change    chan struct{} // closed at each change
	requests  []*request    // open requests, oldest first
	last      *request      // the latest request, even a closed one
	questions []*question   // unanswered questions, oldest first
	count     int           // the number of all questions
	task      *task         // nil unless the run is a task
	waiting   *time.Timer   // ends a run that waits too long for the client; nil while the run does not wait
	outcome
}

// An outcome is how a run ended.
type outcome struct {
	over   bool
	result json.RawMessage
	err    error
	why    *wire.Error // why the run was stopped, or the missing capability of the client; nil if the hook failed
}

// A request is a request that a run answers.
type request struct {
	ctx    context.Context
	caller dialect.Caller
	params json.RawMessage
	task   bool // whether the call may become a task
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

// begin starts the hook of a request. The file input contains the client's responses and its state.
func (s *Server) begin(c *Conn, in *dialect.Inbound, req *request, kept string) (*run, error) {
	file, err := writeInput(&in.Msg, kept)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{c: c, id: randomID(), method: in.Msg.Method, cancel: cancel, clock: &dialect.Stopwatch{}, change: make(chan struct{})}
	about := *c.conn.Caller.Connection()
	about.Codec, about.SingleExchange = c.conn.Codec.Again(), true
	if file != "" {
		about.Vars = map[string]string{"RPCX_INPUT": file}
	}
	about.Answers = answers(&in.Msg)
	r.about, r.last, r.requests = about, req, []*request{req}
	m := in.Msg.Clone()
	m.Params, m.Err = ownMeta(m.Params), nil // there is no handshake to wait for
	ctx = dialect.WithStopwatch(dialect.WithFlowControl(ctx, r), r.clock)
	s.runs.add(r)
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

// runToken is the progress token of every run. A sent message gets the token of the request that is open at that time.
const runToken = "run"

// ownMeta replaces the parts of the params that belong to a single request.
func ownMeta(params json.RawMessage) json.RawMessage {
	var o, m scan.Object
	o.Members(params, "_meta", "inputResponses", "requestState")
	m.Members(scan.Get(params, "_meta"), "progressToken", MetaLevel)
	m.Text("progressToken", runToken)
	m.Text(MetaLevel, levels[0])
	o.Add("_meta", m.End())
	return o.End()
}

// await returns the result for a request: the result of the hook, the hook's questions to the client, or the task that the
// request becomes.
func (r *run) await(req *request) (json.RawMessage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attachLocked(req)
	var t timers
	if req.task {
		t.grace = time.After(taskGrace)
	}
	for !r.over {
		switch next := r.nextLocked(req, &t); {
		case r.over:
		case next == settled && len(r.questions) > 0:
			return r.askLocked(req)
		case next == slow:
			return r.becomeTaskLocked(req)
		case next == gone:
			if r.detachLocked(req); len(r.requests) == 0 && r.waiting == nil && r.task == nil {
				r.cancel()
			}
			return nil, req.ctx.Err()
		}
	}
	r.detachLocked(req)
	return r.resultLocked()
}

// A step is an event that an open request waits for.
type step int

const (
	changed step = iota
	settled      // all questions of a round exist
	slow         // the call becomes a task
	gone         // the client has cancelled the request
)

// timers are the timers of an open request. A nil channel belongs to a stopped timer.
type timers struct{ questions, grace <-chan time.Time }

// nextLocked waits for the next step of an open request. The caller holds the lock.
func (r *run) nextLocked(req *request, t *timers) step {
	switch {
	case len(r.questions) == 0:
		t.questions = nil
	case req.task:
		return slow
	case t.questions == nil:
		t.questions = time.After(gather)
	}
	change, next := r.change, changed
	r.mu.Unlock()
	defer r.mu.Lock()
	select {
	case <-change:
	case <-t.questions:
		next = settled
	case <-t.grace:
		next = slow
	case <-req.ctx.Done():
		next = gone
	}
	return next
}

// isAsking reports whether the run has open questions for the client.
func (r *run) isAsking() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.over
}

func (r *run) attachLocked(req *request) {
	if !slices.Contains(r.requests, req) {
		r.requests = append(r.requests, req)
	}
	r.last = req
	r.resumeLocked()
}

func (r *run) detachLocked(req *request) {
	r.requests = slices.DeleteFunc(r.requests, func(o *request) bool { return o == req })
}

// askLocked answers a request with the questions. The caller holds the lock.
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
	r.changedLocked()
}

func (r *run) resultLocked() (json.RawMessage, error) {
	if r.why != nil && (r.err != nil || string(scan.Get(r.result, "isError")) == "true") {
		return nil, r.why
	}
	return r.result, r.err
}

func (r *run) changedLocked() {
	close(r.change)
	r.change = make(chan struct{})
}
