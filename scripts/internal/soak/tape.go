//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// A tally counts the lines on a tape: opened and closed connections, and the messages of each side.
type tally struct{ opened, closed, sent, received int }

func (t tally) plus(u tally) tally {
	return tally{t.opened + u.opened, t.closed + u.closed, t.sent + u.sent, t.received + u.received}
}

func (t tally) String() string {
	return fmt.Sprintf("%d connections opened, %d closed, %d messages from clients, %d from the peer", t.opened, t.closed, t.sent, t.received)
}

// record starts rpcx record in front of the endpoint to. It returns the recorder's listen address, and a function that ends the
// recorder and counts the lines on its tape. The tape is a named pipe, because millions of lines may not fit on the disk.
func (s *soak) record(ctx context.Context, what, to string) (at string, end func() (tally, error), err error) {
	folder, err := os.MkdirTemp(s.folder, "tape")
	if err != nil {
		return "", nil, err
	}
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		return "", nil, err
	}
	var is tally
	counted := make(chan error, 1)
	go func() { counted <- is.count(pipe) }()
	at, stop, err := s.listen(ctx, what, "record", "tcp://127.0.0.1:0", "--to", to, "-o", pipe)
	if err != nil {
		return "", nil, err
	}
	return at, func() (tally, error) {
		stop()
		err := <-counted
		return is, err
	}, nil
}

// count counts the lines on a tape until it ends. An incomplete line is an error.
func (t *tally) count(tape string) error {
	f, err := os.Open(tape)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Dir              string
			Msg, Open, Close json.RawMessage
		}
		err := json.Unmarshal(lines.Bytes(), &line)
		switch {
		case err != nil:
			return fmt.Errorf("an invalid line on the tape: %q", lines.Text())
		case line.Open != nil:
			t.opened++
		case line.Close != nil:
			t.closed++
		case line.Msg != nil && line.Dir == "send":
			t.sent++
		case line.Msg != nil:
			t.received++
		}
	}
	return lines.Err()
}
