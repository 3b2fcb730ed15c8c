package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
	"rpcx/wire/session/daemon/inbox"
	"rpcx/wire/session/relay"
	"rpcx/wire/session/rundir"
)

// A Control sends requests to a session itself rather than to its peer.
type Control struct {
	jobs []string
	r    *relay.Client
	name string
}

// Attach connects to the session with that name, even if the session is still connecting to its peer.
func Attach(ctx context.Context, name string) (*Control, error) {
	path, err := rundir.Find(name)
	if err != nil {
		return nil, err
	}
	if path == "" {
		return nil, rundir.NotFound(name)
	}
	bound, cancel := context.WithTimeout(ctx, rundir.AnswerTimeout)
	defer cancel()
	r, err := relay.Connect(bound, endpoint.Endpoint{Socket: path, Session: name})
	if err != nil {
		return nil, err
	}
	return &Control{r: r, name: name}, nil
}

// Live waits until the session is live, or returns the session's failure.
func (c *Control) Live(ctx context.Context) error {
	bound, cancel := rundir.AnswerContext(ctx, c.r.PID())
	defer cancel()
	return c.answered(ctx, bound, c.r.Handshake(bound, endpoint.Endpoint{Session: c.name}))
}

// ask sends a request that the session answers without its peer.
func (c *Control) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	bound, cancel := rundir.AnswerContext(ctx, c.r.PID())
	defer cancel()
	out, err := c.r.Call(bound, method, params)
	return out, c.answered(ctx, bound, err)
}

// answered returns nil if err is nil, and otherwise the failure that err stands for.
func (c *Control) answered(ctx, bound context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case bound.Err() != nil:
		return rundir.Silent(c.name, c.r.PID(), err)
	}
	return err
}

// Detach disconnects from the session without changing it.
func (c *Control) Detach() { _ = c.r.Close() }

// Fingerprint returns the fingerprint of the session's options. Live must have returned.
func (c *Control) Fingerprint() string { return c.r.Hello().Fingerprint }

// Version returns the version of rpcx that runs the session. Live must have returned.
func (c *Control) Version() string { return c.r.Hello().Version }

// Endpoint returns the redacted endpoint of the session. Live must have returned.
func (c *Control) Endpoint() string { return c.r.Hello().Endpoint }

// Status returns the status of the session, as JSON.
func (c *Control) Status(ctx context.Context) (json.RawMessage, error) {
	return c.ended(c.ask(ctx, "status", nil))
}

// ended returns the session's response to a request. If the connection was closed instead, it returns the Fault for a
// session that has ended.
func (c *Control) ended(out json.RawMessage, err error) (json.RawMessage, error) {
	if f := wire.AsFault(err); f != nil && f.Kind == wire.Closed {
		err = rundir.Ended(c.name, err)
	}
	return out, err
}

// EndedJobs returns the names of the jobs on the peer that End has cancelled.
func (c *Control) EndedJobs() []string { return c.jobs }

// End ends the session, even while it is still connecting. It returns when the peer has been notified and the session's
// name is free.
func (c *Control) End(ctx context.Context) error {
	running, err := c.ask(ctx, "close", nil)
	if err != nil {
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Closed {
			return err
		}
	}
	for name := range scan.Elements(running) {
		c.jobs = append(c.jobs, scan.String(name))
	}
	bound, cancel := rundir.AnswerContext(ctx, c.r.PID())
	defer cancel()
	select {
	case <-c.r.Done():
		return nil
	case <-bound.Done():
		return c.answered(ctx, bound, bound.Err())
	}
}

// Next claims the oldest parked call of method, and waits if there is none. If method is "", any call matches. show
// receives the call as a line of JSON. If show fails or this process ends during Next, the claim ends at once.
// Otherwise it ends after the time lease.
func (c *Control) Next(ctx context.Context, method string, lease time.Duration, show func(line json.RawMessage) error) error {
	line, err := c.r.Call(ctx, "inbox.next", scan.JSON(inbox.Request{Method: method}))
	if err != nil {
		return err
	}
	var call inbox.Request
	if err := json.Unmarshal(line, &call); err != nil {
		return wire.NewFault(wire.Protocol, "the session sent an invalid call", err)
	}
	if err := show(line); err != nil {
		return err
	}
	_, err = c.ask(context.WithoutCancel(ctx), "inbox.took", scan.JSON(inbox.Request{ID: call.ID, Lease: lease}))
	return err
}

// Reply answers a parked call with value.
func (c *Control) Reply(ctx context.Context, id int64, value json.RawMessage) error {
	_, err := c.ask(ctx, "inbox.reply", scan.JSON(inbox.Request{ID: id, Value: value}))
	return err
}

// Reject answers a parked call with an error.
func (c *Control) Reject(ctx context.Context, id int64, e *wire.Error) error {
	_, err := c.ask(ctx, "inbox.reject", scan.JSON(inbox.Request{ID: id, Code: e.Code, Message: e.Message, Value: e.Data}))
	return err
}

// listBound limits the wait for the status of each session.
const listBound = 2 * time.Second

// List returns the status of all sessions that belong to this user. It removes the files of sessions that were killed.
// If a session does not respond, its status contains only its name, the state "silent" and, if known, its process.
func List(ctx context.Context) ([]Status, error) {
	dir, err := rundir.Existing()
	if err != nil || dir == "" {
		return nil, err
	}
	if err := rundir.Locked(dir, func() error { rundir.Sweep(dir); return nil }); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var all []Status
	var wg sync.WaitGroup
	for _, path := range rundir.Sockets(dir, rundir.PrefixSession, rundir.PrefixHashed) {
		wg.Go(func() {
			if s, ok := statusAt(ctx, path); ok {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, s)
			}
		})
	}
	wg.Wait()
	slices.SortFunc(all, func(a, b Status) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Killed returns a line for each session of this user that was killed recently and has not been opened again.
func Killed() []string {
	if dir, err := rundir.Existing(); err == nil && dir != "" {
		return rundir.Killed(dir)
	}
	return nil
}

// statusAt returns the status of the session at path, or nil if it has ended.
func statusAt(ctx context.Context, path string) (Status, bool) {
	ctx, cancel := context.WithTimeout(ctx, listBound)
	defer cancel()
	s := Status{Name: strings.TrimPrefix(filepath.Base(path), rundir.PrefixSession), State: stateSilent}
	r, err := relay.Connect(ctx, endpoint.Endpoint{Socket: path})
	if err != nil {
		return s, ctx.Err() != nil
	}
	defer r.Close()
	s.PID = r.PID()
	raw, err := r.Call(ctx, "status", nil)
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if f := wire.AsFault(err); f != nil && f.Kind == wire.Closed {
		return s, false
	}
	return s, true
}
