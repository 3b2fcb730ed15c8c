package hotrepl

import "time"

// frame does one frame's work in the order of real hosts: every queued message,
// at most one eval, then the subscriptions. Cancels do not wait for a frame.
func (s *server) frame() {
	for n := s.queue.len(); n > 0; n-- { // one by one: those that wait can be cancelled
		t, ok := s.queue.next()
		if !ok {
			break
		}
		if t.h.ctx.Err() == nil {
			s.do(t)
		}
	}
	if eval := s.queue.nextEval(); eval != nil {
		s.eval(eval)
		s.queue.over(eval)
	}
	for _, w := range s.queue.due() {
		if w.ctx.Err() == nil && s.step(w) {
			s.queue.endWatch(w)
		}
	}
}

// do handles one queued message.
func (s *server) do(t task) {
	switch t.msg.Method {
	case typeComplete:
		s.complete(t)
	case typeReset:
		s.reset(t)
	case typeSubscribe:
		s.subscribe(t)
	case typeList:
		s.list(t)
	case typeDescribe:
		s.describe(t)
	case typeCall:
		s.command(t)
	case typeStatus:
		s.status(t)
	case typeJobCancel:
		s.cancelJob(t)
	case typeJournal:
		s.query(t)
	}
}

// cancelByID cancels the evals, commands and subscriptions that have that id,
// whichever client sent them. A cancel itself is never answered; what it ends
// is, except a subscription.
func (s *server) cancelByID(id []byte) {
	calls, evals := s.queue.cancel(id)
	for _, t := range calls {
		t.h.send(commandFailed(t.msg.ID, time.Now(), cancelledCommand))
	}
	for _, r := range evals {
		r.cancel(errByClient)
		s.evalFailed(r, cancelledEval(r))
	}
}
