package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"sync"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
	"rpcx/wire/session/daemon"
	"rpcx/wire/session/relay"
	"rpcx/wire/userfile"
)

// startup links a new session process to the command that started it. Output goes to that command until the session is
// ready, and then to the session's log.
type startup struct {
	mu         sync.Mutex
	out        *os.File // nil after the session is ready
	log        []string // the last lines
	words      []string
	parentGone chan struct{} // closed when the starting command ends
}

// logLines bounds the lines of a session's log, and logWidth their length in bytes.
const (
	logLines = 50
	logWidth = 500
)

// Main is the main function of a session process. It calls execute with the starting command's line, and returns the
// exit status.
func Main(run *env.Env, execute func(run *env.Env, words []string) error) int {
	b, err := readStartup()
	if err != nil {
		run.Detect(nil)
		run.Console.Note("this is an internal command: use rpcx connect --session NAME")
		return cmdline.StatusOf(wire.Usage).Code
	}
	args := append([]string{"rpcx"}, b.words...)
	run.Detect(args)
	run.Parent = b
	run.Console = format.NewConsole(b, format.ConsoleOptions{JSON: env.JSONErrors(args)})
	err = execute(run, b.words)
	if err == nil {
		return 0
	}
	f := cmdline.Worst(err)
	b.send(startEvent{Fault: relay.FaultJSON(f)})
	return cmdline.StatusOf(f.Kind).Code
}

// readStartup reads the starting command's request and watches for that command's end. It returns an error if the
// descriptors are not its pipes.
func readStartup() (*startup, error) {
	in, out := inherited()
	if in == nil || out == nil {
		return nil, errors.New("no starter")
	}
	r := bufio.NewReader(in)
	line, err := r.ReadBytes('\n')
	var o startRequest
	if err == nil {
		err = json.Unmarshal(line, &o)
	}
	if err != nil {
		return nil, err
	}
	userfile.Keep(o.Files)
	b := &startup{out: out, words: o.Words, parentGone: make(chan struct{})}
	go func() {
		_, _ = r.ReadByte()
		in.Close()
		close(b.parentGone)
	}()
	return b, nil
}

// Write accepts lines for stderr. Before the session is ready, it passes them to the starting command, and afterwards to
// the log.
func (b *startup) Write(p []byte) (int, error) {
	if b.send(startEvent{Stderr: p}) {
		return len(p), nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for line := range bytes.Lines(p) {
		b.log = append(b.log, wire.Excerpt(bytes.TrimRight(line, "\n"), logWidth))
	}
	if n := len(b.log); n > logLines {
		b.log = slices.Clone(b.log[n-logLines:])
	}
	return len(p), nil
}

// send writes n to the starting command. It returns false if that command has ended.
func (b *startup) send(n startEvent) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.out == nil {
		return false
	}
	_, err := b.out.Write(append(scan.JSON(n), '\n'))
	return err == nil
}

// Ended returns a channel that is closed when the starting command ends.
func (b *startup) Ended() <-chan struct{} { return b.parentGone }

// Ready reports to the starting command that the session is ready, which ends the command. Later output goes to the
// log.
func (b *startup) Ready() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, _ = b.out.Write(append(scan.JSON(startEvent{Live: true}), '\n'))
	_ = b.out.Close()
	b.out = nil
}

// Log returns the last lines of stderr since the session became ready.
func (b *startup) Log() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.log)
}

// runHost runs the session. If the starting command ends before the session is ready, the session ends.
func runHost(ctx context.Context, run *env.Env, o *Options, e endpoint.Endpoint, k daemon.HostOptions) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	live := make(chan struct{})
	var decided sync.Once // the session is live, or the starting command has ended before
	go func() {
		select {
		case <-run.Parent.Ended():
			decided.Do(func() {
				cancel(wire.NewFault(wire.Interrupted, "the command that started the session has ended", nil))
			})
		case <-live:
		}
	}()
	so, err := options.ForSession(ctx, run, &o.Conn, &o.Hooks)
	if err != nil {
		return err
	}
	if err := o.Handshake.Apply(run, &e, &so); err != nil {
		return err
	}
	if so.Record, err = o.Record.Open(run, e.String(), e.Dialect, false); err != nil {
		return err
	}
	so.Resend = request.Resend(run, func() {})
	so.Reconnect = o.Reconnect.Options(run, &o.Conn)
	k.Answers = request.AnswersOf(e, so.Transport)
	k.Log = run.Parent.Log
	k.Live = func() {
		decided.Do(func() {
			close(live)
			run.Parent.Ready()
		})
	}
	return request.WaitReached(ctx, run, func() error { return daemon.Host(ctx, e, so, k) })
}
