package session

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// rawPipe implements RawPipe on a connection that this process owns.
type rawPipe struct {
	hub    *rawHub
	ctx    context.Context // bounds the wait for responses
	forget context.CancelFunc
	slow   chan struct{} // closed when the pipe ends because its user does not read

	mu           sync.Mutex
	cond         *sync.Cond
	queue        []wire.Message
	size         int             // the total size of queue in bytes
	openRequests map[string]bool // the keys of the ids of the requests that Recv delivers and the user has not answered yet
	ended        bool            // no more messages will arrive
	draining     bool            // the user will send nothing more
	err          error           // why the pipe ended before the conversation did, or nil
	lostAnswers  []error         // why responses will not arrive; each kind of reason occurs once
	pending      sync.WaitGroup
}

// rawQueueBytes is the size of the queue at which the reader stops.
const rawQueueBytes = 8 << 20

// push queues m, which arrived on l. It reports whether the pipe accepted m.
func (r *rawPipe) push(l *link, m wire.Message) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.size > rawQueueBytes && !r.ended {
		if r.hub.d.o.Shared != nil { // the other processes must not wait
			r.ended, r.err = true, wire.NewFault(wire.IO, "the output is too slow: its queue is full, and a session does not wait", nil)
			close(r.slow)
			r.cond.Broadcast()
			break
		}
		r.cond.Wait()
	}
	if r.ended {
		return false
	}
	m = m.Clone()
	r.queue = append(r.queue, m)
	r.size += len(m.Raw)
	r.cond.Broadcast()
	if m.Kind == wire.Request {
		wire.Put(&r.openRequests, string(m.ID.Key()), true)
		if r.draining {
			r.reject(l)
		}
	}
	return true
}

// reject answers the pending requests of this pipe, which arrived on l, with an error. The caller holds the lock.
func (r *rawPipe) reject(l *link) {
	var ids []wire.ID
	for id := range r.openRequests {
		ids = append(ids, wire.ID(id))
	}
	r.openRequests = nil
	if len(ids) > 0 && l != nil {
		<-l.ready
		l.p.RejectOpen(wire.NewError(wire.CodeInternal, "the process that answered requests has ended"), ids...)
	}
}

// Context returns a context that ends when Leave is called.
func (r *rawPipe) Context() context.Context { return r.ctx }

// Leave ends the pipe and removes it from the hub.
func (r *rawPipe) Leave() {
	r.Stop()
	r.forget()
	r.hub.mu.Lock()
	r.hub.pipes = slices.DeleteFunc(r.hub.pipes, func(p *rawPipe) bool { return p == r })
	r.hub.mu.Unlock()
	l := r.hub.d.current()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reject(l)
}

func (r *rawPipe) Recv() (m wire.Message, idle bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.queue) == 0 && !r.ended {
		r.cond.Wait()
	}
	if len(r.queue) == 0 {
		return wire.Message{}, true, io.EOF
	}
	m = r.queue[0]
	r.queue[0] = wire.Message{}
	r.queue = r.queue[1:]
	r.size -= len(m.Raw)
	r.cond.Broadcast()
	return m, len(r.queue) == 0, nil
}

func (r *rawPipe) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	if !wire.IsClosed(r.hub.d.Done()) {
		return nil
	}
	r.draining = true
	r.mu.Unlock()
	r.pending.Wait()
	r.mu.Lock()
	if len(r.lostAnswers) > 0 {
		return errors.Join(r.lostAnswers...)
	}
	return r.hub.d.Err()
}

func (r *rawPipe) Stop() {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	r.cond.Broadcast()
}

func (r *rawPipe) Send(ctx context.Context, msg []byte) error {
	if !r.addPending() {
		return wire.NewFault(wire.Closed, "cannot send a message after the last one", nil)
	}
	st, err := r.send(ctx, msg)
	if err != nil || st == nil {
		r.pending.Done()
		return err
	}
	go func() {
		defer wire.Guard()
		defer r.pending.Done()
		r.follow(st)
	}()
	return nil
}

// addPending counts a message that may have a response. It returns false if Finish is already waiting for responses.
func (r *rawPipe) addPending() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.draining {
		r.pending.Add(1)
	}
	return !r.draining
}

func (r *rawPipe) send(ctx context.Context, msg []byte) (dialect.Stream, error) {
	ids := answers(msg, nil)
	if err := r.hub.claim(ids); err != nil {
		return nil, err
	}
	st, err := r.hub.d.openOnce(ctx, dialect.Op{Kind: dialect.Raw, Params: msg, Answer: func(m wire.Message) { r.push(nil, m) }})
	if l := r.hub.d.current(); err == nil && l != nil {
		l.p.Answered(ids...)
	}
	return st, err
}

// follow waits for the response to a message that was sent.
func (r *rawPipe) follow(st dialect.Stream) {
	for {
		_, err := st.Next(r.ctx)
		if err == nil {
			continue
		}
		switch {
		case r.ctx.Err() != nil: // the caller has stopped waiting
			dialect.CancelAnyway(r.ctx, st)
		case err != io.EOF:
			r.unanswered(err)
		}
		return
	}
}

func (r *rawPipe) isDraining() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.draining
}

// has reports whether the pipe has delivered a request with this id that is still pending.
func (r *rawPipe) has(id wire.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.openRequests[string(id.Key())]
}

func (r *rawPipe) answered(id wire.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.openRequests, string(id.Key()))
}

// unanswered records why a response will not arrive.
func (r *rawPipe) unanswered(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kind := func(err error) (k wire.FaultKind) {
		if f := wire.AsFault(err); f != nil {
			k = f.Kind
		}
		return k
	}
	if !slices.ContainsFunc(r.lostAnswers, func(have error) bool { return kind(have) == kind(err) }) {
		r.lostAnswers = append(r.lostAnswers, err)
	}
}

// answers appends to ids the ids of the requests that msg answers. In every dialect, a message with a result or an
// error is a response.
func answers(msg []byte, ids []wire.ID) []wire.ID {
	switch scan.Type(msg) {
	case 'a':
		for part := range scan.Elements(msg) {
			ids = answers(part, ids)
		}
	case 'o':
		answer := scan.Get(msg, "method") == nil && (scan.Get(msg, "result") != nil || scan.Get(msg, "error") != nil)
		if id := scan.Get(msg, "id"); answer && id != nil {
			ids = append(ids, id)
		}
	}
	return ids
}

func (r *rawPipe) Finish(ctx context.Context) error {
	l := r.hub.d.current()
	r.mu.Lock()
	r.draining = true
	r.reject(l)
	r.mu.Unlock()
	select {
	case <-wire.Go(r.pending.Wait):
		// The handlers of a session continue after the pipe.
		if l != nil && r.hub.d.o.Shared == nil && l.p.Settle(ctx) != nil {
			return context.Cause(ctx)
		}
		if err := r.Err(); err != nil {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		return errors.Join(r.lostAnswers...)
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-r.slow:
		return r.err
	case <-r.hub.d.Done():
		return r.Err()
	}
}
