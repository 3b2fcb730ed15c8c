package request

import (
	"context"

	"rpcx/commands/env"
	"rpcx/wire"
	"rpcx/wire/dialect"
)

// A trigger is the request sent along with --method or --select. Its response is
// not awaited; only a failure counts. Items of a stream it opens are discarded,
// since the watch sees them too.
type trigger struct {
	stream dialect.Stream
	stop   context.CancelFunc
	failed chan error // receives the failure, if the request has one
}

// DoWatching prints the messages that watch selects. If op has a method it is
// sent to begin them. outcome returns the command's outcome for the end of the
// watch.
func (c *ResponsePrinter) DoWatching(watch, op dialect.Op, outcome func(error) error) error {
	st, err := c.conv.Open(c.deadline.Ctx, watch)
	if err != nil {
		return outcome(env.Cause(c.deadline.Ctx, err))
	}
	if op.Method == "" {
		return outcome(c.Read(st))
	}
	t, err := startTrigger(c, op)
	if err != nil {
		return outcome(env.Cause(c.deadline.Ctx, err))
	}
	return t.end(c, outcome(c.Read(st)))
}

// startTrigger sends op. If the peer answers with an error, it ends the deadline
// of c with that.
func startTrigger(c *ResponsePrinter, op dialect.Op) (*trigger, error) {
	st, err := c.conv.Open(c.deadline.Ctx, op)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(c.deadline.Ctx)
	s := &trigger{stream: st, stop: stop, failed: make(chan error, 1)}
	go func() {
		defer wire.Guard()
		err := answered(ctx, st, op.Method)
		if f := wire.AsFault(err); f != nil && f.Kind != wire.Closed { // messages that came before the end are still printed
			c.deadline.Cancel(f)
		}
		s.failed <- err
		for err == nil {
			c.deadline.Touch()
			_, err = st.Next(ctx)
		}
		close(s.failed)
	}()
	return s, nil
}

// answered waits for the first answer in st and returns its failure.
func answered(ctx context.Context, st dialect.Stream, method string) error {
	m, err := st.Next(ctx)
	switch {
	case err != nil:
		return named(err, method)
	case m.Err != nil:
		return rpcFault(method, m.Err.Clone())
	}
	return nil
}

// end cancels the stream of the request. err is the outcome of the watch. If
// the connection was lost before the request was answered, or it was answered
// with an error, that is the outcome instead.
func (s *trigger) end(c *ResponsePrinter, err error) error {
	s.stop()
	failed := wire.AsFault(<-s.failed)
	for range s.failed { // until it reads no more
	}
	c.cancel(s.stream)
	if c.state != lost || failed == nil {
		return err
	}
	if failed.Kind == wire.RPCError {
		Suggest(c.env, failed, nil)
	}
	return failed
}
