package poll

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
)

// reports is a stream of messages that arrive one by one and then ends with err. If err is nil, it stays open.
type reports struct {
	msgs      []wire.Message
	err       error
	cancelled int
}

func (r *reports) Next(ctx context.Context) (wire.Message, error) {
	if len(r.msgs) == 0 {
		if r.err != nil {
			return wire.Message{}, r.err
		}
		<-ctx.Done()
		return wire.Message{}, ctx.Err()
	}
	m := r.msgs[0]
	r.msgs = r.msgs[1:]
	return m, nil
}

func (r *reports) Cancel(context.Context) error {
	r.cancelled++
	return nil
}

// rpcx polls after a time without reports, and after the reports end.
func TestReportsAndQuestions(t *testing.T) {
	for name, err := range map[string]error{"reports continue": nil, "reports end": io.EOF} {
		synctest.Test(t, func(t *testing.T) {
			r := &reports{msgs: []wire.Message{{Method: "a"}, {Method: "b"}}, err: err}
			began, asked := time.Now(), 0
			s := &Stream{Reports: r}
			s.OnReport = func(_ context.Context, m wire.Message) error {
				s.Put(m)
				return nil
			}
			s.Ask = func(context.Context) error {
				if asked++; asked == 3 {
					s.Put(wire.Message{Method: "c"})
					s.End()
				}
				return nil
			}
			for _, want := range []string{"a", "b", "c"} {
				m, err := s.Next(t.Context())
				if err != nil || m.Method != want || m.Final != (want == "c") {
					t.Errorf("%s: %+v, %v, want %s", name, m, err, want)
				}
			}
			if _, err := s.Next(t.Context()); err != io.EOF || asked != 3 || time.Since(began) > 6*longestPause {
				t.Errorf("%s: %v after %v and %d polls", name, err, time.Since(began), asked)
			}
			if err := s.Cancel(t.Context()); err != nil || r.cancelled != 1 {
				t.Errorf("%s: %v, cancelled %d times", name, err, r.cancelled)
			}
		})
	}
}

// rpcx cancels work once, and not after the work has ended.
func TestCancelledRequests(t *testing.T) {
	failed := errors.New("failed")
	gaveUp := 0
	cancelWork := func(context.Context) error { gaveUp++; return failed }
	s := &Stream{CancelWork: cancelWork}
	if err := s.Cancel(t.Context()); err != failed || gaveUp != 1 {
		t.Error(err, gaveUp)
	}
	if err := s.Cancel(t.Context()); err != nil || gaveUp != 1 {
		t.Error(err, gaveUp)
	}
	if _, err := s.Next(t.Context()); err != io.EOF {
		t.Error(err)
	}
	s = &Stream{CancelWork: cancelWork}
	s.End()
	if err := s.Cancel(t.Context()); err != nil || gaveUp != 1 {
		t.Error(err, gaveUp)
	}
}

// Until the work has an id, only reports describe it, and the end of the reports ends the stream.
func TestBeforeItHasAName(t *testing.T) {
	s := &Stream{Reports: &reports{err: io.ErrUnexpectedEOF}}
	if _, err := s.Next(t.Context()); err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s = &Stream{Ask: func(context.Context) error { return errors.New("asked") }}
	if _, err := s.Next(ctx); err != context.Canceled {
		t.Error(err)
	}
	lines := Lines([]byte("1"), []byte("2"))
	for _, want := range []string{"1", "2"} {
		if m, err := lines.Next(t.Context()); err != nil || string(m.Event.Data) != want || m.Final != (want == "2") || m.Event.Final != m.Final {
			t.Errorf("%+v, %v", m, err)
		}
	}
	if _, err := lines.Next(t.Context()); err != io.EOF {
		t.Error(err)
	}
}

// A failure ends CancelRunning. Running has a bound.
func TestRunning(t *testing.T) {
	var r Running
	for i := range maxRunning + 1 {
		r.SetRunning([]byte(strconv.Quote(fmt.Sprintf("%04d", i))), true)
	}
	r.SetRunning([]byte(`"0000"`), false)
	r.SetRunning([]byte(`"0002"`), false)
	failed := errors.New("failed")
	var cancelled []string
	err := r.CancelRunning(func(id json.RawMessage) error {
		if cancelled = append(cancelled, string(id)); len(cancelled) == 2 {
			return failed
		}
		return nil
	})
	if err != failed || strings.Join(cancelled, " ") != `"0001" "0003"` || len(r.RunningJobs()) != maxRunning-2 {
		t.Error(err, cancelled, len(r.RunningJobs()))
	}
}
