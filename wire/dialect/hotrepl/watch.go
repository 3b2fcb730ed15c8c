package hotrepl

import (
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// maxWatches bounds the subscriptions of a host. A subscription ends after maxErrorsInRow consecutive errors. Real
// hosts have the same limits.
const (
	maxWatches     = 8
	maxErrorsInRow = 3
)

// A watch is a subscription: code that the host evaluates at an interval in frames.
type watch struct {
	*running
	code   string
	every  int  // the interval in frames
	limit  int  // the number of values, or 0 for no limit
	ms     int  // the time limit of an evaluation; 0 for the host's default
	change bool // report only values that differ from the previous one

	wait   int // the number of frames until the next evaluation
	seq    int
	values int
	errors int // the number of consecutive errors
	last   []byte
}

// subscribe starts a watch, which replaces an earlier one of the same client with the same id. It rejects the watch if
// the host already has maxWatches.
func (s *server) subscribe(t task) {
	raw := t.msg.Raw
	w := &watch{
		running: newRunning(t), every: max(number(scan.Get(raw, "intervalFrames")), 1), limit: number(scan.Get(raw, "limit")),
		ms: number(scan.Get(raw, "timeoutMs")), change: string(scan.Get(raw, "onChange")) == "true",
	}
	w.code, _ = scan.Text(scan.Get(raw, "code"))
	if !s.queue.watch(w) {
		w.cancel()
		w.fail(newError(kindInternal, "subscriptionRejected", "The host has reached its limit of "+strconv.Itoa(maxWatches)+" subscriptions."), true)
	}
}

// step evaluates a watch once, sends the result, and reports whether that was its last message.
func (s *server) step(w *watch) (final bool) {
	begun := time.Now()
	value, err := s.evaluate(w.ctx, w.h, w.code, w.ms, nil)
	if w.ctx.Err() != nil {
		return false // a cancelled watch has no final message
	}
	if err != nil {
		w.seq++
		w.errors++
		final = w.errors >= maxErrorsInRow
		w.fail(err, final)
		return final
	}
	w.errors = 0
	if w.change && w.last != nil && string(w.last) == string(value) {
		return false
	}
	w.seq++
	w.values++
	w.last = append(w.last[:0], value...)
	final = w.limit > 0 && w.values >= w.limit
	w.h.send(build(typeTick).id(w.msg.ID).int("seq", w.seq).value(value).duration(begun).bool("final", final).end())
	return final
}

// fail sends an error in place of a value.
func (w *watch) fail(e *wire.Error, final bool) {
	w.h.send(build(typeTickError).id(w.msg.ID).int("seq", w.seq).raw("error", errorJSON(e)).bool("final", final).end())
}
