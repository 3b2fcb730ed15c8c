package peer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer"
)

func (s *stage) open(verb, name, arg string) error {
	method, args, _ := strings.Cut(arg, " ")
	op := dialect.Op{Kind: dialect.Call, Method: method, Params: params(args)}
	switch verb {
	case "sub":
		op.Kind = dialect.Subscribe
	case "watch":
		op.Kind = dialect.Watch
	case "raw":
		op = dialect.Op{Kind: dialect.Raw, Params: []byte(arg)}
	}
	stream, err := s.p.Open(s.t.Context(), op)
	if err != nil {
		stream = failed{err}
	}
	s.ops[name] = stream
	return nil
}

// failed is a stream that failed to open.
type failed struct{ err error }

func (f failed) Next(context.Context) (wire.Message, error) { return wire.Message{}, f.err }
func (f failed) Cancel(context.Context) error               { return nil }

func params(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// next returns the next event of an operation in the form of the steps, or "nothing" if there is none.
func (s *stage) next(name string) string {
	limit := time.Nanosecond
	if s.real {
		limit = patience
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), limit)
	defer cancel()
	m, err := s.ops[name].Next(ctx)
	var f *wire.Fault
	switch {
	case err == io.EOF:
		return "end"
	case errors.Is(err, context.DeadlineExceeded):
		return "nothing"
	case errors.As(err, &f):
		return "fault " + string(f.Kind) + " " + f.Error()
	case err != nil:
		return "err " + err.Error()
	}
	ev, err := dialect.EventOf(s.p.Connection().Codec, m)
	switch {
	case err != nil:
		return err.Error()
	case ev.Kind == wire.Failure:
		return "error " + string(ev.Err.Code) + " " + ev.Err.Message
	case ev.Kind == wire.Done:
		return "done"
	}
	return string(ev.Data)
}

func (s *stage) cancel(name, arg string) error {
	bound := time.Minute
	if arg != "" {
		var err error
		if bound, err = time.ParseDuration(arg); err != nil {
			return err
		}
	}
	s.wg.Go(func() {
		ctx, cancel := context.WithTimeout(s.t.Context(), bound)
		defer cancel()
		_ = s.ops[name].Cancel(ctx)
	})
	return nil
}

// note expects a note. Notes are unordered, because they come from several goroutines.
func (s *stage) note(kind, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.notes, func(n peer.Note) bool {
		return noteNames[n.Kind] == kind && strings.Contains(n.Text, text)
	})
	if i < 0 {
		return fmt.Errorf("%w: no such note in %v", errNotYet, s.notes)
	}
	s.notes = slices.Delete(s.notes, i, i+1)
	return nil
}

var noteNames = map[peer.NoteKind]string{
	peer.NoteUnhandledRequest: "unhandled-request", peer.NoteUnhandledNotification: "unhandled-notification",
	peer.NoteFailedNotification: "failed-notification", peer.NoteUnknownResponse: "unknown-response",
	peer.NoteStrayError: "stray-error", peer.NoteMalformed: "malformed", peer.NoteBusy: "busy",
	peer.NoteDropped: "dropped", peer.NotePanic: "panic", peer.NoteUnsent: "unsent",
}

func (s *stage) expect(list *[]string, want string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(*list) == 0 {
		return errNotYet
	}
	got := (*list)[0]
	*list = (*list)[1:]
	return same(got, want)
}

func same(got, want string) error {
	if prefix, ok := strings.CutSuffix(want, "…"); ok && strings.HasPrefix(got, prefix) || got == want {
		return nil
	}
	return fmt.Errorf("got  %s\nwant %s", got, want)
}

func (s *stage) over(want string) error {
	select {
	case <-s.p.Done():
	default:
		return fmt.Errorf("%w: the connection has not ended", errNotYet)
	}
	got := ""
	if err := s.p.Err(); err != nil {
		got = err.Error()
	}
	return same(got, want)
}

func (s *stage) incoming(m wire.Message) bool {
	if strings.HasPrefix(m.Method, "hook") {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took = append(s.took, string(m.Raw))
	return true
}
