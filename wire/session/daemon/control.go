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
	*relay.Client
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
	r, err := relay.Connect(ctx, endpoint.Endpoint{Socket: path, Session: name})
	if err != nil {
		return nil, err
	}
	return &Control{r, name}, nil
}

// Status returns the status of the session, as JSON.
func (c *Control) Status(ctx context.Context) (json.RawMessage, error) {
	out, err := c.Ask(ctx, "status", nil)
	if f := wire.AsFault(err); f != nil && f.Kind == wire.Closed {
		err = rundir.Ended(c.name, err)
	}
	return out, err
}

// End ends the session, even while it is still connecting. It returns when the peer has been notified and the session's
// name is free. jobs are the names of the jobs on the peer that End has cancelled.
func (c *Control) End(ctx context.Context) (jobs []string, err error) {
	running, err := c.Ask(ctx, "close", nil)
	if err != nil {
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Closed {
			return nil, err
		}
	}
	for name := range scan.Elements(running) {
		jobs = append(jobs, scan.String(name))
	}
	return jobs, c.InTime(ctx, func(ctx context.Context) error {
		select {
		case <-c.Done():
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// Next claims the oldest parked call of method, and waits if there is none. If method is "", any call matches. show
// receives the call as a line of JSON. If show fails or this process ends during Next, the claim ends at once.
// Otherwise it ends after the time lease.
func (c *Control) Next(ctx context.Context, method string, lease time.Duration, show func(line json.RawMessage) error) error {
	line, err := c.Call(ctx, "inbox.next", scan.JSON(inbox.Request{Method: method}))
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
	_, err = c.Ask(context.WithoutCancel(ctx), "inbox.took", scan.JSON(inbox.Request{ID: call.ID, Lease: lease}))
	return err
}

// Reply answers a parked call with value.
func (c *Control) Reply(ctx context.Context, id int64, value json.RawMessage) error {
	_, err := c.Ask(ctx, "inbox.reply", scan.JSON(inbox.Request{ID: id, Value: value}))
	return err
}

// Reject answers a parked call with an error.
func (c *Control) Reject(ctx context.Context, id int64, e *wire.Error) error {
	_, err := c.Ask(ctx, "inbox.reject", scan.JSON(inbox.Request{ID: id, Code: e.Code, Message: e.Message, Value: e.Data}))
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

// statusAt returns the status of the session at path, or nil if it has ended.
func statusAt(ctx context.Context, path string) (Status, bool) {
	ctx, cancel := context.WithTimeout(ctx, listBound)
	defer cancel()
	s := Status{Name: strings.TrimPrefix(filepath.Base(path), rundir.PrefixSession), State: "silent"}
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
