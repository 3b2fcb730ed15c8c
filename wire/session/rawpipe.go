package session

import (
	"context"
	"io"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer"
)

// A RawPipe is the traffic of a conversation as whole messages: what comes in
// and no hook answers, in the order of arrival, and what the user sends
// (section 5 of the design).
type RawPipe struct {
	peer    *peer.Peer
	answers func(method string) bool // a hook answers it

	mu    sync.Mutex
	cond  *sync.Cond
	queue []wire.Message
	size  int  // bytes in queue
	ended bool // nothing more comes
	mute  bool // the user sends no more
	owed  sync.WaitGroup
}

// rawQueueBytes is how much may wait to be printed before the reader stops.
const rawQueueBytes = 8 << 20

func newRawPipe(answers func(string) bool) *RawPipe {
	r := &RawPipe{answers: answers}
	r.cond = sync.NewCond(&r.mu)
	return r
}

// incoming is peer.Options.Incoming: it takes what stdin owns.
func (r *RawPipe) incoming(m wire.Message) bool {
	hooked := (m.Kind == wire.Request || m.Kind == wire.Notification) && r.answers(m.Method)
	if hooked && m.Kind == wire.Request {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.size > rawQueueBytes && !r.ended {
		r.cond.Wait()
	}
	if r.ended {
		return false
	}
	m = m.Clone()
	r.queue = append(r.queue, m)
	r.size += len(m.Raw)
	r.cond.Broadcast()
	if r.mute && m.Kind == wire.Request {
		r.peer.RejectOpen(errNobody())
	}
	return !hooked
}

// Recv returns the next message that came; io.EOF when no more will. idle says
// that nothing further waits.
func (r *RawPipe) Recv() (m wire.Message, idle bool, err error) {
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

// Watch ends the pipe when the connection does. It returns at once.
func (r *RawPipe) Watch() {
	go func() {
		<-r.peer.Done()
		r.Stop()
	}()
}

// Err says why the connection ended; nil while it lasts and after a clean end.
func (r *RawPipe) Err() error { return r.peer.Err() }

// Stop lets Recv return what is queued and then io.EOF.
func (r *RawPipe) Stop() {
	r.mu.Lock()
	r.ended = true
	r.mu.Unlock()
	r.cond.Broadcast()
}

// Send sends one message of the user's: a request, a notification, or the
// answer to a request that Recv returned. An id is kept where it is free.
func (r *RawPipe) Send(ctx context.Context, msg []byte) error {
	st, err := r.peer.Open(ctx, dialect.Op{Kind: dialect.Raw, Params: msg})
	if err != nil || st == nil {
		return err
	}
	r.owed.Go(func() {
		for {
			if _, err := st.Next(context.Background()); err != nil {
				return
			}
		}
	})
	return nil
}

func errNobody() *wire.Error {
	return wire.NewError(wire.CodeInternal, "nobody is left to answer")
}

// Finish is the end of the user's messages: requests of the far side that are
// still open, or still come, get -32603, and the answers that are owed, to us
// and by hooks, are waited for as long as the context allows.
func (r *RawPipe) Finish(ctx context.Context) error {
	r.mu.Lock()
	r.mute = true
	r.mu.Unlock()
	r.peer.RejectOpen(errNobody())
	done := make(chan struct{})
	go func() {
		r.owed.Wait()
		close(done)
	}()
	select {
	case <-done:
		if r.peer.Settle(ctx) == nil {
			return nil
		}
		return context.Cause(ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-r.peer.Done():
		return nil
	}
}
