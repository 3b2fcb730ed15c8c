package daemon

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// A ring is limited to this many bytes and messages.
const (
	ringBytes = 8 << 20
	ringCount = 64 << 10
)

// A ring contains the latest messages that no command has requested: notifications, and items of the session's
// subscriptions. Their numbers start at 1.
type ring struct {
	most, count int

	mu    sync.Mutex
	kept  []kept
	first int64 // the number of the message kept[0]
	bytes int
	more  wire.Gate // opens when a message has been added
	ended error     // why no more messages will arrive, or nil
}

type kept struct {
	m  wire.Message
	at time.Time
}

func newRing() *ring { return &ring{most: ringBytes, count: ringCount, first: 1} }

// add stores m, which the caller must not use afterwards, and drops the oldest messages if necessary.
func (r *ring) add(m wire.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = append(r.kept, kept{m, time.Now()})
	r.bytes += len(m.Raw)
	drop := 0
	for r.bytes > r.most && drop < len(r.kept)-1 || len(r.kept)-drop > r.count {
		r.bytes -= len(r.kept[drop].m.Raw)
		r.kept[drop] = kept{}
		drop++
	}
	r.kept = r.kept[drop:]
	r.first += int64(drop)
	r.more.Pass()
}

func (r *ring) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = err
	r.more.Pass()
}

// bounds returns the numbers of the oldest and the newest message, and the total size.
func (r *ring) bounds() (first, last int64, bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first, r.first + int64(len(r.kept)) - 1, r.bytes
}

// after returns a stream of the messages that follow number since and that a Watch of method shows. The messages in the
// ring come first, then new ones.
func (r *ring) after(since int64, method string, event func(*wire.Message, *wire.Event) error) (*ringStream, error) {
	if _, last, _ := r.bounds(); since > last {
		return nil, wire.Usagef("the latest event of the session is number %d, but --since is %d", last, since)
	}
	return &ringStream{ring: r, next: max(since, 0) + 1, takes: dialect.Op{Kind: dialect.Watch, Method: method}, event: event}, nil
}

// ringStream reads a ring. Messages that it has missed become a gap.
type ringStream struct {
	ring  *ring
	next  int64
	takes dialect.Op // a Watch
	event func(*wire.Message, *wire.Event) error
	over  bool
}

// Next returns the next message with its event. The event contains the number and the time of the message.
func (s *ringStream) Next(ctx context.Context) (wire.Message, error) {
	k, seq, err := s.take(ctx)
	if err != nil {
		return wire.Message{}, err
	}
	var ev wire.Event
	if err := s.event(&k.m, &ev); err != nil {
		return wire.Message{}, err
	}
	if seq > 0 {
		ev.Seq = strconv.AppendInt(nil, seq, 10)
		if ev.Time == nil {
			ev.Time = json.RawMessage(k.at.UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`))
		}
	}
	k.m.Event = &ev
	return k.m, nil
}

// take waits for the next message that the stream shows. seq is 0 for the gap that stands for missed messages.
func (s *ringStream) take(ctx context.Context) (k kept, seq int64, err error) {
	r := s.ring
	r.mu.Lock()
	defer r.mu.Unlock()
	for !s.over {
		switch i := s.next - r.first; {
		case i < 0:
			s.next = r.first
			return kept{m: wire.Message{Kind: wire.Item, Event: &wire.Event{Kind: wire.Gap, Missed: -i}}}, 0, nil
		case i < int64(len(r.kept)):
			k := r.kept[i]
			s.next++
			if k.m.Event != nil && k.m.Event.Kind == wire.Gap || s.takes.Takes(k.m.Method) {
				return k, s.next - 1, nil
			}
		case r.ended != nil:
			return kept{}, 0, r.ended
		default:
			if err := r.more.Await(ctx, &r.mu); err != nil {
				return kept{}, 0, err
			}
		}
	}
	return kept{}, 0, io.EOF
}

// Cancel ends the stream.
func (s *ringStream) Cancel(context.Context) error {
	s.over = true
	return nil
}

// traffic counts the messages on a connection.
type traffic [2]way // one element for each Direction

// A way counts the messages in one direction.
type way struct{ messages, bytes atomic.Int64 }

// count implements wire.Record.
func (t *traffic) count(d wire.Direction, msg []byte, more ...[]byte) {
	w := &t[d]
	size := len(msg)
	for _, msg := range more {
		size += len(msg)
	}
	w.messages.Add(1 + int64(len(more)))
	w.bytes.Add(int64(size))
}

func (w *way) status() wayStatus { return wayStatus{w.messages.Load(), w.bytes.Load()} }
