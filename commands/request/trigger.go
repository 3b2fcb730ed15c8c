package request

import (
	"context"

	"rpcx/commands/env"
	"rpcx/wire"
	"rpcx/wire/dialect"
)

// A trigger is the request that begins what --method or --select takes. Its
// answer may come late or never, and what is taken does not wait for it; only
// its failure counts. A stream that it opens is read and dropped: what is
// wanted of it is taken as it comes in.
type trigger struct {
	stream dialect.Stream
	stop   context.CancelFunc
	failed chan error // why there was no answer, once
}

// DoWatching prints what comes in as watch says. op, where it has a method, is sent
// to begin it. outcome says how the end of what was watched counts.
func (c *Consumer) DoWatching(watch, op dialect.Op, outcome func(error) error) error {
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

// startTrigger sends op, and ends c with its failure.
func startTrigger(c *Consumer, op dialect.Op) (*trigger, error) {
	st, err := c.conv.Open(c.deadline.Ctx, op)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(c.deadline.Ctx)
	s := &trigger{stream: st, stop: stop, failed: make(chan error, 1)}
	go func() {
		err := answered(ctx, st, op.Method)
		if f := wire.AsFault(err); f != nil && f.Kind != wire.Closed { // what was taken before the end is still printed
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

// answered is the failure of the first answer in st.
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

// end tells the far side that nobody wants more. err is the outcome of what was
// taken; where that ended with the connection, a request that had no answer, or
// a bad one, is the outcome.
func (s *trigger) end(c *Consumer, err error) error {
	s.stop()
	failed := wire.AsFault(<-s.failed)
	for range s.failed { // until it reads no more
	}
	(&Consumer{print: c.print, deadline: c.deadline, stream: s.stream}).cancel()
	if !c.lost || failed == nil {
		return err
	}
	if failed.Kind == wire.RPCError {
		Suggest(c.env, failed, nil)
	}
	return failed
}
