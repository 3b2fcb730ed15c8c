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

// gather is how long a question waits for others before the client gets them.
const gather = 30 * time.Millisecond

// A run is a call that a hook answers. To the hook it is a connection, which several requests of the client carry, one after the other: what the
// hook asks is the result of a request, and the next request brings the answers.
//
// It is a dialect.Caller.
type run struct {
	s        *Server
	id       string
	identity string // of the caller
	what     string // the digest of method and params
	method   string
	about    dialect.Connection
	cancel   context.CancelFunc
	clock    *dialect.Stopwatch // of the hook; stopped while no request is open

	mu        sync.Mutex
	change    chan struct{} // closed when something has changed
	requests  []*request    // that are open, the latest last
	last      *request      // the latest, also if it is closed
	questions []*question   // without an answer, the oldest first
	asked     int           // questions so far
	waiting   *time.Timer   // ends a run that waits for the client to answer; nil means it does not
	outcome
}

// An outcome is how a run has ended.
type outcome struct {
	over    bool
	result  json.RawMessage
	err     error
	why     *wire.Error // why it was ended before its end; nil means it was not
	lacking *wire.Error // the capability that a question lacked; nil means none did
}

// A request is one that a run answers.
type request struct {
	ctx    context.Context
	caller dialect.Caller
	params json.RawMessage
}

// call answers a request by a hook: a new run, or the one whose questions the request answers.
func (c *Conn) call(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	req := &request{ctx, c.conn.Caller, in.Msg.Params}
	what := digest(in.Msg.Method, in.Msg.Params)
	kept, id, err := c.opened(&in.Msg, what)
	if err != nil {
		return nil, err
	}
	if id != "" {
		r := c.s.runs.find(id)
		if r == nil {
			return nil, wire.NewError(wire.CodeInvalidParams, "the call that asked has ended, or runs in another process")
		}
		if err := r.take(scan.Get(in.Msg.Params, "inputResponses")); err != nil {
			return nil, err
		}
		return r.await(req)
	}
	r, err := c.s.begin(c, in, req, what, kept)
	if err != nil {
		return nil, err
	}
	result, err := r.await(req)
	if err == nil && !r.isAsking() && scan.String(scan.Get(result, "resultType")) == inputRequired {
		result, err = c.asked(&in.Msg, result, what)
	}
	return result, err
}

// begin starts the hook of a request. The file input has what the client kept for it.
func (s *Server) begin(c *Conn, in *dialect.Inbound, req *request, what, kept string) (*run, error) {
	file, err := writeInput(&in.Msg, kept)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{s: s, id: randomID(), identity: c.identity, what: what, method: in.Msg.Method, cancel: cancel, clock: &dialect.Stopwatch{}, change: make(chan struct{})}
	about := *c.conn.Caller.Connection()
	about.Codec, about.SingleExchange = c.conn.Codec.Again(), true
	if file != "" {
		about.Vars = map[string]string{"RPCX_INPUT": file}
	}
	r.about, r.last, r.requests = about, req, []*request{req}
	m := in.Msg.Clone()
	m.Params, m.Err = ownMeta(m.Params), nil // no call comes too early
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

// runToken is the token of the progress of every run. What is sent has that of the request that is open then.
const runToken = "run"

// ownMeta replaces, in the params for a hook's dialect file, what belongs to a single request.
func ownMeta(params json.RawMessage) json.RawMessage {
	var o, m scan.Object
	o.Members(params, "_meta", "inputResponses", "requestState")
	m.Members(scan.Get(params, "_meta"), "progressToken", MetaLevel)
	m.Text("progressToken", runToken)
	m.Text(MetaLevel, levels[0])
	o.Add("_meta", m.End())
	return o.End()
}

// await returns the result for a request: that of the hook, or what the hook asks the client.
func (r *run) await(req *request) (json.RawMessage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attachLocked(req)
	var settled <-chan time.Time
	for {
		switch {
		case r.over:
			r.detachLocked(req)
			return r.resultLocked()
		case len(r.questions) == 0:
			settled = nil
		case settled == nil:
			settled = time.After(gather)
		}
		change := r.change
		r.mu.Unlock()
		ready := false
		select {
		case <-change:
		case <-settled:
			ready = true
		case <-req.ctx.Done():
		}
		r.mu.Lock()
		switch {
		case r.over:
		case req.ctx.Err() != nil:
			if r.detachLocked(req); len(r.requests) == 0 && r.waiting == nil {
				r.cancel()
			}
			return nil, req.ctx.Err()
		case ready && len(r.questions) > 0:
			return r.askLocked(req)
		case ready:
			settled = nil
		}
	}
}

// isAsking reports whether the client has questions of the run to answer.
func (r *run) isAsking() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.over
}

// attachLocked adds a request that is open.
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

// askLocked answers a request with the questions.
func (r *run) askLocked(req *request) (json.RawMessage, error) {
	r.detachLocked(req)
	if len(r.requests) == 0 {
		if err := r.waitLocked(); err != nil {
			return nil, err
		}
	}
	var questions, o scan.Object
	for _, q := range r.questions {
		questions.Add(q.key, q.request())
	}
	o.Text("resultType", inputRequired)
	o.Add("inputRequests", questions.End())
	o.Text("requestState", r.s.seal.close(ofRun+r.id, r.identity, r.what, r.s.runs.wait))
	return o.End(), nil
}

// waitLocked lets the run wait for the client.
func (r *run) waitLocked() error {
	if !r.s.runs.enter() {
		r.cancel()
		return wire.NewError(wire.CodeServer, "too many calls wait for input").WithData(map[string]bool{"retryable": true})
	}
	r.clock.Stop()
	r.waiting = time.AfterFunc(r.s.runs.wait, r.expire)
	return nil
}

// resumeLocked ends the waiting.
func (r *run) resumeLocked() {
	if r.waiting != nil {
		r.waiting.Stop()
		r.waiting = nil
		r.s.runs.leave()
		r.clock.Start()
	}
}

// expire ends a run whose client has not answered in time.
func (r *run) expire() { r.stop(wire.NewError(wire.CodeServer, "the client has not answered in time")) }

// stop ends a run early.
func (r *run) stop(why *wire.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.why == nil {
		r.why = why
	}
	r.cancel()
}

// end notes the result of the hook.
func (r *run) end(result json.RawMessage, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over, r.result, r.err = true, result, err
	for _, q := range r.questions {
		close(q.done)
	}
	r.questions = nil
	r.resumeLocked()
	r.changedLocked()
}

// resultLocked returns the result of the hook. If the hook failed after a question for which the client lacks a capability, that is the error.
func (r *run) resultLocked() (json.RawMessage, error) {
	failed := r.err != nil || string(scan.Get(r.result, "isError")) == "true"
	switch {
	case failed && r.lacking != nil:
		return nil, r.lacking
	case r.why != nil && r.err != nil:
		return nil, r.why
	}
	return r.result, r.err
}

func (r *run) changedLocked() {
	close(r.change)
	r.change = make(chan struct{})
}
