package session

import (
	"context"
	"fmt"
	"os"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/player"
	"rpcx/wire/tape/transcript"
	"rpcx/wire/transport"
)

// OpenTape reads the tape in file; "-" is stdin. The parts of messages that ignore selects are not
// compared. Errors are usage Faults that name the line.
func OpenTape(file string, rules func(dialect.Shape) *match.Rules) (*transcript.Transcript, error) {
	if rules == nil {
		rules = func(s dialect.Shape) *match.Rules { return match.NewRules(s, nil) }
	}
	return transcript.Open(file, os.Stdin, all.ShapeOf, rules)
}

// CutShort returns a warning if the tape t, which was read from file, ends inside a line; else "".
func CutShort(file string, t *transcript.Transcript) string {
	if t.Cut == 0 {
		return ""
	}
	return fmt.Sprintf("the tape %s ends inside line %d, which is left out", file, t.Cut)
}

// startTape plays the server of the endpoint's tape at the other end of a pair. Its end function
// returns an Expectation Fault if something was asked that is not on the tape.
func startTape(e endpoint.Endpoint, o Options) (wire.Conn, []func() error, error) {
	t, err := OpenTape(e.Tape, nil)
	if err != nil {
		return nil, nil, err
	}
	if text := CutShort(e.Tape, t); text != "" && o.Transport.Warn != nil {
		o.Transport.Warn(text)
	}
	found := &tapeDifferences{warn: o.Transport.Warn, tape: e.Tape}
	s, err := player.NewServer(t, player.Options{Found: found.add})
	if err != nil {
		_ = t.Close()
		return nil, nil, err
	}
	here, there := transport.Pair()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, there) }()
	stop := func() error {
		cancel()
		err := <-done
		_ = t.Close()
		if fault := found.fault(); fault != nil {
			return fault
		}
		if ctx.Err() != nil {
			err = nil
		}
		return err
	}
	return here, []func() error{sync.OnceValue(stop)}, nil
}

// tapeDifferences counts differences from the tape.
type tapeDifferences struct {
	warn func(text string)
	tape string

	mu    sync.Mutex
	count int
	first string // in words
}

func (t *tapeDifferences) add(f match.Difference) {
	if f.Kind != match.Extra {
		t.mu.Lock()
		if t.count++; t.count == 1 {
			t.first = f.String()
		}
		t.mu.Unlock()
	}
	if t.warn != nil && f.Kind != match.Unknown {
		t.warn("the tape " + t.tape + ": " + f.String())
	}
}

func (t *tapeDifferences) fault() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count == 0 {
		return nil
	}
	more := ""
	if t.count > 1 {
		more = fmt.Sprintf(" (and %d more)", t.count-1)
	}
	return wire.NewFault(wire.Expectation, fmt.Sprintf("the tape %s: %s%s", t.tape, t.first, more), nil)
}
