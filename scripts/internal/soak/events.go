//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
)

// eventsOverTCP runs rpcx, which prints the notifications of a server in this program. A recorder is between the two.
func eventsOverTCP(s *soak, ctx context.Context) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	sent := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			sent <- err
			return
		}
		defer c.Close()
		out := bufio.NewWriterSize(c, 64<<10)
		p := s.pace(s.events)
		for i := range s.events {
			if err := p.rest(ctx, i, out.Flush); err != nil {
				sent <- err
				return
			}
			line := append([]byte(`{"jsonrpc":"2.0","method":"tick","params":`), strconv.Itoa(i+1)...)
			line = append(append(append(line, `,"more":"`...), padding...), "\"}\n"...)
			if _, err := out.Write(line); err != nil {
				sent <- err
				return
			}
		}
		if err := out.Flush(); err != nil {
			sent <- err
			return
		}
		_, err = io.Copy(io.Discard, c) // until the connection closes
		sent <- err
	}()
	between, stop, err := s.record(ctx, "record, before events", "tcp://"+l.Addr().String())
	if err != nil {
		return "", err
	}
	did, err := s.counted(ctx, "subscribe, over TCP", "subscribe", between, "--method", "tick", "--count", strconv.Itoa(s.events))
	is, terr := stop()
	if err := errors.Join(err, terr); err != nil {
		return "", err
	}
	<-sent // ignores the sender's error
	if want := (tally{opened: 1, closed: 1, received: s.events}); is != want {
		return "", fmt.Errorf("the tape has %v, want %v", is, want)
	}
	return did + ", all on the tape", nil
}

// padding makes each event about 200 bytes long.
const padding = "................................................................................................................................"

// eventsOfAHook runs rpcx, which prints a stream. Another rpcx makes the items of the stream from the lines of a hook.
func eventsOfAHook(s *soak, ctx context.Context) (string, error) {
	did, err := s.counted(ctx, "subscribe, to a hook", "subscribe", s.server, "ticks")
	// In addition to its items, a stream has a response and a last message.
	s.wants(tally{opened: 1, closed: 1, sent: 1, received: s.events + 2})
	return did, err
}

// counted runs rpcx with args, which must print the numbers from 1 to s.events, one per line.
func (s *soak) counted(ctx context.Context, what string, args ...string) (string, error) {
	cmd := s.command(ctx, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	w := s.watch(what, cmd.Process.Pid)
	n, wrong := 0, ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		n++
		if lines.Text() != strconv.Itoa(n) && wrong == "" {
			wrong = fmt.Sprintf("line %d is %q", n, lines.Text())
		}
	}
	w.stop()
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("%s: %w, after %d lines", what, err, n)
	}
	if wrong != "" || n != s.events {
		return "", fmt.Errorf("%d of %d events; %s", n, s.events, wrong)
	}
	return fmt.Sprintf("%d events, none lost", n), nil
}
