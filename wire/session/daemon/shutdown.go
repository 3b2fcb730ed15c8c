package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/session/relay"
	"rpcx/wire/session/rundir"
)

// This file contains how a session ends.

// errClosed is the cause with which a session's context ends when the session is closed.
var errClosed = errors.New("the session was closed")

// disconnectReason returns why the connection to the peer ended, or nil if it has not ended.
func (h *host) disconnectReason() error {
	if !wire.IsClosed(h.conv.Done()) {
		return nil
	}
	return cmp.Or[error](h.conv.Err(), wire.NewFault(wire.Closed, "the peer closed the connection", nil))
}

// probation waits up to 100 ms if a child has sent nothing, because a child that cannot start usually exits at once. If
// the connection or ctx ends within that time, probation returns the reason. Otherwise it returns nil.
func (h *host) probation(ctx context.Context) error {
	if len(h.e.Address.Command) > 0 && h.traffic[wire.Recv].messages.Load() == 0 {
		select {
		case <-h.conv.Done():
		case <-time.After(probation):
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return h.disconnectReason()
}

const probation = 100 * time.Millisecond

// watch waits until the session must end and returns the reason.
func (h *host) watch(file os.FileInfo) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-h.life.Done():
			return context.Cause(h.life)
		case <-h.conv.Done():
			return h.disconnectReason()
		case <-tick.C:
			if now, err := os.Lstat(h.path); err != nil || !os.SameFile(now, file) {
				return wire.NewFault(wire.Closed, "the session's socket was removed", err)
			}
			if h.options.IdleExit > 0 && h.sock.Idle() >= h.options.IdleExit {
				return wire.NewFault(wire.Timeout, fmt.Sprintf("no command used it for %v (--idle-exit)", h.options.IdleExit), nil)
			}
		}
	}
}

// watchEvery is the interval between two checks of the socket and of the idle time.
const watchEvery = 200 * time.Millisecond

// shutdown ends the session: it removes the socket, disconnects from the peer, and then disconnects the attached
// commands.
func (h *host) shutdown(file os.FileInfo, why error) {
	ended := wire.NewFault(wire.Closed, errClosed.Error(), nil)
	if why != nil {
		ended = wire.NewFault(wire.Closed, "the session has ended: "+why.Error(), why)
	}
	h.ended.Store(ended)
	_ = rundir.Locked(filepath.Dir(h.path), func() error {
		if now, err := os.Lstat(h.path); err == nil && os.SameFile(now, file) {
			return os.Remove(h.path)
		}
		return nil
	})
	_ = h.sock.Listener.Close() // no more processes can connect
	drainTime := relay.DrainTimeout
	if h.conv != nil {
		if wire.IsClosed(h.conv.Done()) { // attached commands must read all earlier messages before they receive the reason
			drainTime = slowDrainTimeout
		} else {
			h.conv.EndRaw(h.EndReason())
			h.sock.CancelStreams()
			h.unsubscribe()
		}
		_ = h.conv.Close()
	}
	h.ring.end(h.EndReason())
	h.subs.Wait()
	h.sock.Close(drainTime)
}

// slowDrainTimeout is how long commands may read earlier messages after the peer has disconnected.
const slowDrainTimeout = 10 * time.Second

func (h *host) unsubscribe() {
	var leaving sync.WaitGroup
	for _, st := range h.subscriptions {
		leaving.Go(func() { dialect.CancelAnyway(context.Background(), st) })
	}
	leaving.Wait()
}

// close begins to end the session. It returns the names of the jobs that will end with it. The command that requested it
// waits for the end of its connection.
func (h *host) close(context.Context, *relay.Process, *dialect.Inbound) (json.RawMessage, error) {
	var names scan.Array
	if wire.IsClosed(h.live) && h.conv != nil {
		now, cancel := context.WithCancel(context.Background())
		cancel() // do not wait for a new connection
		for _, name := range h.conv.RunningJobs(now) {
			names.Text(name)
		}
	}
	h.end(errClosed)
	return names.End(), nil
}
