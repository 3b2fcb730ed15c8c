package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/peer"
	"rpcx/wire/session/rundir"
	"rpcx/wire/syserr"
)

// Dial connects to the conversation behind e.Socket and reads its Hello.
func Dial(ctx context.Context, e endpoint.Endpoint) (*Client, error) {
	bound, cancel := rundir.AnswerContext(ctx, 0)
	r, err := Connect(bound, e)
	pid := 0
	if err == nil {
		cancel()
		pid = r.pid
		bound, cancel = rundir.AnswerContext(ctx, pid)
		if err = r.Handshake(bound, e); err != nil {
			_ = r.Close()
			r = nil
		}
	}
	defer cancel()
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, ctx.Err()
	case e.Session != "" && bound.Err() != nil && err != nil:
		return nil, rundir.Silent(e.Session, pid, err)
	}
	return r, err
}

// Connect connects to the socket but sends nothing.
func Connect(ctx context.Context, e endpoint.Endpoint) (*Client, error) {
	nc, err := dialUnix(ctx, e)
	if err != nil {
		return nil, err
	}
	r := &Client{hook: e.Hook, pid: rundir.PeerPID(nc)}
	r.p = socketPeer(nc, peer.Options{Handler: func(c dialect.Caller) dialect.Handler {
		f := &ownFunctions{r: r, c: c}
		return dialect.Handler{Handle: f.Handle, Close: f.Close}
	}})
	return r, nil
}

// dialUnix connects to the socket. If the socket has no listener, dialUnix removes it and returns a Fault.
func dialUnix(ctx context.Context, e endpoint.Endpoint) (net.Conn, error) {
	for {
		nc, err := new(net.Dialer).DialContext(ctx, "unix", e.Socket)
		switch {
		case err == nil:
			return nc, nil
		case syserr.Crowded(err) && ctx.Err() == nil:
			select {
			case <-time.After(5 * time.Millisecond): // polling, because there is no event to wait for
			case <-ctx.Done():
			}
		case e.Session != "" && syserr.Refused(err):
			return nil, rundir.CleanUp(e.Socket, e.Session, err)
		case e.Session != "" && (errors.Is(err, os.ErrNotExist) || syserr.Refused(err)):
			return nil, rundir.Ended(e.Session, err)
		default:
			return nil, wire.NewFault(wire.Unreachable, fmt.Sprintf("%s: the conversation has ended", e), err)
		}
	}
}

// Handshake requests the Hello of the other process.
func (r *Client) Handshake(ctx context.Context, e endpoint.Endpoint) error {
	raw, err := r.p.Call(ctx, "hello", nil)
	if err == nil {
		err = json.Unmarshal(raw, &r.hello)
	}
	if err == nil {
		_, err = all.Lookup(r.hello.Dialect)
	}
	ended := isLostSocket(err)
	switch err := FromRPC(err); {
	case err == nil:
		if e.Dialect != "" && e.Dialect != r.hello.Dialect {
			return wire.Usagef("%s uses the %s dialect, not %s", e, r.hello.Dialect, e.Dialect)
		}
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case e.Session != "" && ended:
		return rundir.Ended(e.Session, err)
	case e.Session != "" && wire.AsFault(err) != nil:
		return err // why the stream could not be opened
	default:
		return wire.NewFault(wire.Unreachable, fmt.Sprintf("%s is not an rpcx conversation", e), err)
	}
}

// fromSocket converts an error of a call over the socket to the failure that the other process has returned, or to the
// Fault for a process that has ended.
func fromSocket(err error) error {
	if isLostSocket(err) {
		return &wire.Fault{Kind: wire.Closed, Message: "the process that owns the connection has ended", Err: err}
	}
	return FromRPC(err)
}

// isLostSocket reports whether err means that the socket itself was lost. This excludes a local close, and the end of
// the connection that the socket offers.
func isLostSocket(err error) bool {
	var reported *wire.Error
	f := wire.AsFault(err)
	return f != nil && f.Kind == wire.Closed && (f.Close != nil || f.Err != nil) && !errors.As(err, &reported)
}
