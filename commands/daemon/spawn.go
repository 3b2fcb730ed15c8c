// Package daemon implements the sessions of connect. It starts session processes, contains their main function, and
// implements the commands that show, use and end sessions.
package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"rpcx/commands/env"
	"rpcx/commands/request"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/profile"
	"rpcx/wire/scan"
	"rpcx/wire/session/daemon"
	"rpcx/wire/session/relay"
	"rpcx/wire/session/rundir"
	"rpcx/wire/userfile"
)

// A session has its own process. The command that opens it starts rpcx again and passes the command line through a
// pipe, which hides the line from other users. The command returns when the process reports that the session is ready.

// BackgroundWord and a session's name are the command line of a session process.
const BackgroundWord = "session:"

// A startRequest is the command line for the session process, with the content of files that it cannot open.
type startRequest struct {
	Words []string          `json:"words"`
	Files map[string][]byte `json:"files,omitempty"`
}

// A startEvent is one line from the session process to the starting command: text for stderr, a failure, or ready.
type startEvent struct {
	Stderr []byte          `json:"stderr,omitempty"`
	Fault  json.RawMessage `json:"fault,omitempty"`
	Live   bool            `json:"live,omitempty"`
}

// Keep opens the session that the command line names, and returns when the session is ready. In the session's own
// process, it returns when the session ends.
func Keep(ctx context.Context, run *env.Env, o *Options) error {
	if len(run.Line.Args) > 1 {
		return run.Line.Usage("connect takes only ENDPOINT, not %q", run.Line.Args[1])
	}
	e, _, err := request.Endpoint(ctx, run, o.Conn.Dialect)
	if err != nil {
		return err
	}
	k, err := o.hostOptions(run, e)
	if err != nil {
		return err
	}
	if run.Parent != nil {
		return runHost(ctx, run, o, e, k)
	}
	cl := env.NewDeadline(ctx, o.Time.Timeout.Or(0), 0)
	defer cl.Stop()
	for tries := 0; ; tries++ {
		if o.Session.ensure {
			if same, err := sameSession(cl.Ctx, k); same || err != nil {
				return env.Cause(cl.Ctx, err)
			}
		}
		err := spawn(cl.Ctx, run, k.Name)
		f := wire.AsFault(err)
		if o.Session.ensure && f != nil && f.Kind == wire.Conflict && tries < 3 {
			continue // another process has opened the session first
		}
		return env.Cause(cl.Ctx, err)
	}
}

// sameSession reports whether a live session has the same fingerprint. It returns a Fault of kind Conflict if the
// fingerprint differs.
func sameSession(ctx context.Context, k daemon.HostOptions) (bool, error) {
	c, err := daemon.Attach(ctx, k.Name)
	if err == nil {
		defer c.Close()
		err = c.Handshake(ctx)
	}
	switch f := wire.AsFault(err); {
	case rundir.IsAbsent(err), f != nil && f.Kind == wire.Closed:
		return false, nil // the session has ended or is ending
	case err != nil:
		return false, err
	}
	if err := request.SameVersion(k.Name, c.Hello().Version); err != nil {
		return false, err
	}
	if c.Hello().Fingerprint != k.Fingerprint {
		return false, wire.NewFault(wire.Conflict, fmt.Sprintf("session %s exists, but its endpoint, hooks, subscriptions or tape differ (%s)", k.Name, c.Hello().Endpoint), nil).
			WithHint("close it with rpcx session close " + k.Name)
	}
	return true, nil
}

// inheritedFiles reads stdin and the descriptors in words, such as --hooks <(…) or -H @-.
func inheritedFiles(words []string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, word := range words {
		word, _, _ = strings.Cut(word, "#")
		file := word[strings.LastIndexAny(word, "@:=")+1:]
		if !userfile.IsInherited(file) || !userfile.IsStream(file) {
			continue
		}
		b, err := userfile.Read(file)
		if err != nil {
			return nil, wire.NewFault(wire.Usage, err.Error(), err)
		}
		files[file] = b
	}
	return files, nil
}

// spawn starts the session process and waits until the session is ready. If ctx ends, the process ends.
func spawn(ctx context.Context, run *env.Env, name string) error {
	files, err := inheritedFiles(append(slices.Clone(run.Line.Words), os.Getenv(profile.PathVariable)))
	if err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return wire.NewFault(wire.Internal, "cannot find rpcx's executable: "+err.Error(), err)
	}
	requestsIn, requestsOut, err := os.Pipe()
	if err != nil {
		return wire.NewFault(wire.IO, err.Error(), err)
	}
	defer requestsOut.Close()
	eventsIn, eventsOut, err := os.Pipe()
	if err != nil {
		requestsIn.Close()
		return wire.NewFault(wire.IO, err.Error(), err)
	}
	defer eventsIn.Close()
	cmd := exec.Command(exe, BackgroundWord, name)
	cmd.Args[0] = os.Args[0]
	handOver(cmd, requestsIn, eventsOut)
	err = cmd.Start()
	requestsIn.Close()
	eventsOut.Close()
	if err != nil {
		return wire.NewFault(wire.IO, "cannot start the session's process: "+err.Error(), err)
	}
	line := scan.JSON(startRequest{run.Line.Words, files})
	_, _ = requestsOut.Write(append(line, '\n'))
	stop := context.AfterFunc(ctx, func() {
		_ = requestsOut.Close() // signals the end of this process
		time.AfterFunc(env.CloseTimeout, func() { _ = eventsIn.Close() })
	})
	defer stop()
	live, err := awaitReady(eventsIn, run.Console)
	if live {
		_ = cmd.Process.Release()
		return nil
	}
	_ = requestsOut.Close()
	died := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	}
	return wire.NewFault(wire.Internal, fmt.Sprintf("the session's process ended before the session was ready: %v", died), died)
}

// awaitReady copies the process's stderr until the process reports ready or a failure, or ends.
func awaitReady(from io.Reader, console *format.Console) (live bool, err error) {
	in := bufio.NewReader(from)
	for {
		line, rerr := in.ReadBytes('\n')
		var n startEvent
		if rerr != nil || json.Unmarshal(line, &n) != nil {
			return false, nil
		}
		switch {
		case n.Live:
			return true, nil
		case n.Fault != nil:
			return false, relay.FaultFrom(n.Fault)
		}
		console.Pass(n.Stderr)
	}
}
