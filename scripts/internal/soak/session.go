//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	cutEvery  = 3 * time.Second
	callEvery = 250 * time.Millisecond
	lost      = 7 // the exit status of a call whose connection closed
)

// cutSession makes calls through a session whose server closes the connection every few seconds. Each call must return a response
// or the status lost. At the end, the session must be open and must have reconnected as often as the connection was closed.
func cutSession(s *soak, ctx context.Context) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	cuts := &cutter{}
	go cuts.serve(l)
	defer l.Close()
	between, stop, err := s.record(ctx, "record, before cuts", "tcp://"+l.Addr().String())
	if err != nil {
		return "", err
	}
	if out, err := s.command(ctx, "connect", between, "--session", "soak", "--reconnect", "--reconnect-for", "1m", "--subscribe", "ticks").Output(); err != nil {
		return "", fmt.Errorf("connect: %w: %s", err, out)
	}
	pid, _, err := s.sessionStatus(ctx)
	if err != nil {
		return "", err
	}
	w := s.watch("session", pid)
	answered, told, err := s.callThrough(ctx)
	w.stop()
	if err != nil {
		return "", err
	}
	_, reconnects, err := s.sessionStatus(ctx)
	if err != nil {
		return "", fmt.Errorf("the session has ended: %w", err)
	}
	if err := s.command(ctx, "session", "close", "soak").Run(); err != nil {
		return "", err
	}
	is, err := stop()
	if err != nil {
		return "", err
	}
	if err := cuts.agrees(is, answered, reconnects); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d calls with a response, %d reported as lost, %d cuts, %d reconnections, on the tape %v", answered, told, cuts.count(), reconnects, is), ctx.Err()
}

func (s *soak) sessionStatus(ctx context.Context) (pid, reconnects int, err error) {
	out, err := s.command(ctx, "session", "status", "soak").Output()
	if err != nil {
		return 0, 0, err
	}
	var said struct {
		PID, Reconnects int
	}
	err = json.Unmarshal(out, &said)
	return said.PID, said.Reconnects, err
}

// callThrough calls through the session during the whole run, and counts responses and lost calls.
func (s *soak) callThrough(ctx context.Context) (answered, told int, err error) {
	for end := s.begun.Add(s.lasts); time.Now().Before(end) && ctx.Err() == nil; {
		next := time.Now().Add(callEvery)
		out, err := s.quiet(ctx, "call", "@soak", "add", strconv.Itoa(answered), strconv.Itoa(told))
		var exit *exec.ExitError
		switch {
		case err == nil && strings.TrimSpace(out) == strconv.Itoa(answered+told):
			answered++
		case errors.As(err, &exit) && exit.ExitCode() == lost:
			told++
		default:
			return answered, told, fmt.Errorf("call: %v: %q", err, out)
		}
		time.Sleep(time.Until(next)) // the pace of the calls, not a wait for an event
	}
	return answered, told, nil
}

// agrees compares the counts of the session and of the cutter's tape with the cutter's own.
func (c *cutter) agrees(is tally, answered, reconnects int) error {
	made := c.count()
	if reconnects < made-1 || reconnects > made {
		return fmt.Errorf("%d cuts, %d reconnections", made, reconnects)
	}
	if again := c.subscriptions() - 1; again < reconnects-1 || again > made {
		return fmt.Errorf("%d reconnections, but %d new subscriptions", reconnects, again)
	}
	came, heard, said := c.all()
	if is.opened != came || is.closed != came || is.sent < heard || is.received < answered || is.received > said {
		return fmt.Errorf("the tape has %v; the peer had %d connections, received %d messages and sent %d; %d calls got a response", is, came, heard, said, answered)
	}
	return nil
}

// quiet runs rpcx without its stderr, which would report each lost call.
func (s *soak) quiet(ctx context.Context, args ...string) (string, error) {
	cmd := s.command(ctx, args...)
	cmd.Stderr = nil
	out, err := cmd.Output()
	return string(out), err
}

// A cutter is a server that responds to add, sends ticks, and closes the connection every cutEvery.
type cutter struct {
	mu         sync.Mutex
	cuts       int
	subscribed int
	came       int // accepted connections
	heard      int // received messages
	said       int
}

// all returns the numbers of accepted connections, received messages and sent messages.
func (k *cutter) all() (came, heard, said int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.came, k.heard, k.said
}

// subscriptions returns the number of subscriptions to ticks.
func (k *cutter) subscriptions() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.subscribed
}

func (k *cutter) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.cuts
}

func (k *cutter) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go k.converse(c)
	}
}

func (k *cutter) converse(c net.Conn) {
	k.mu.Lock()
	k.came++
	k.mu.Unlock()
	cut := time.AfterFunc(cutEvery, func() {
		k.mu.Lock()
		k.cuts++
		k.mu.Unlock()
		_ = c.Close()
	})
	defer func() {
		cut.Stop()
		_ = c.Close()
	}()
	for lines := bufio.NewScanner(c); lines.Scan(); {
		var m struct {
			ID     json.RawMessage
			Method string
			Params []int
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return
		}
		k.mu.Lock()
		k.heard++
		k.said += 1 + strings.Count(m.Method, "ticks") // a subscription to ticks also has an item
		k.mu.Unlock()
		answer := `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":`
		switch {
		case m.Method == "ticks":
			k.mu.Lock()
			k.subscribed++
			k.mu.Unlock()
			answer += `"s"}` + "\n" + `{"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s","result":1}}`
		case m.Method == "add" && len(m.Params) == 2:
			answer += strconv.Itoa(m.Params[0]+m.Params[1]) + "}"
		default:
			answer += "true}"
		}
		if _, err := c.Write([]byte(answer + "\n")); err != nil {
			return
		}
	}
}
