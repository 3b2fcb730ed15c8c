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

// OpenTape reads the tape in file. "-" is stdin. The parts of messages that ignore selects are not compared. Errors are
// usage Faults that name the line.
func OpenTape(file string, rules func(dialect.Shape) *match.Rules) (*transcript.Transcript, error) {
	if rules == nil {
		rules = func(s dialect.Shape) *match.Rules { return match.NewRules(s, nil) }
	}
	return transcript.Open(file, os.Stdin, all.ShapeOf, rules)
}

// CutShort returns a warning if the tape t, which was read from file, ends inside a line, else "".
func CutShort(file string, t *transcript.Transcript) string {
	if t.Cut == 0 {
		return ""
	}
	return fmt.Sprintf("the tape %s ends inside line %d, which is skipped", file, t.Cut)
}

// startTape plays the server of the endpoint's tape at the other end of a pair. Its end function returns an Expectation
// Fault if there was a request that is not on the tape.
func startTape(e endpoint.Endpoint, o Options) (wire.Conn, []func() error, error) {
	t, err := OpenTape(e.Tape, nil)
	if err != nil {
		return nil, nil, err
	}
	if text := CutShort(e.Tape, t); text != "" && o.Transport.Warn != nil {
		o.Transport.Warn(text)
	}
	var tally player.Tally
	s, err := player.NewServer(t, player.Options{Found: func(d match.Difference) {
		if tally.Add(d); o.Transport.Warn != nil && d.Kind != match.Unknown {
			o.Transport.Warn("the tape " + e.Tape + ": " + d.String())
		}
	}})
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
		if n, first := tally.Count(); n > 0 {
			more := ""
			if n > 1 {
				more = fmt.Sprintf(" (and %d more)", n-1)
			}
			return wire.NewFault(wire.Expectation, fmt.Sprintf("the tape %s: %s%s", e.Tape, first, more), nil)
		}
		if ctx.Err() != nil {
			err = nil
		}
		return err
	}
	return here, []func() error{sync.OnceValue(stop)}, nil
}
