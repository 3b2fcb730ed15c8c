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

// Dial connects to the process that owns the conversation of e and reads its Hello, which names the dialect. If a
// session is still connecting, Dial waits. For an endpoint that this process dials itself, Dial returns nil.
func Dial(ctx context.Context, e endpoint.Endpoint) (*Client, error) {
	if e.Socket == "" {
		return nil, nil
	}
	r, err := Connect(ctx, e)
	if err != nil {
		return nil, err
	}
	if err := r.Handshake(ctx); err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

// Connect connects to the socket but sends nothing.
func Connect(ctx context.Context, e endpoint.Endpoint) (*Client, error) {
	r := &Client{e: e}
	err := r.InTime(ctx, func(ctx context.Context) error {
		nc, err := dialUnix(ctx, e)
		if err != nil {
			return err
		}
		r.pid = rundir.PeerPID(nc)
		r.p = socketPeer(nc, peer.Options{Handler: func(c dialect.Caller) dialect.Handler {
			f := &ownFunctions{r: r, c: c}
			return dialect.Handler{Handle: f.Handle, Close: f.Close}
		}})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// InTime calls do with a context that ends when the other process takes too long to respond. If do fails for that
// reason, InTime returns the Fault for a session that does not respond.
func (r *Client) InTime(ctx context.Context, do func(ctx context.Context) error) error {
	bound, cancel := rundir.AnswerContext(ctx, r.pid)
	defer cancel()
	err := do(bound)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && bound.Err() != nil && r.e.Session != "":
		return rundir.Silent(r.e.Session, r.pid, err)
	}
	return err
}

// dialUnix connects to the socket. If the socket has no listener, dialUnix removes it and returns a Fault.
func dialUnix(ctx context.Context, e endpoint.Endpoint) (net.Conn, error) {
	for {
		nc, err := new(net.Dialer).DialContext(ctx, "unix", e.Socket)
		switch {
		case err == nil:
			return nc, nil
		case syserr.Crowded(err) && ctx.Err() == nil:
			wire.Sleep(ctx, 5*time.Millisecond) // polling, because there is no event to wait for
		case e.Session != "" && syserr.Refused(err):
			return nil, rundir.CleanUp(e.Socket, e.Session, err)
		case e.Session != "" && errors.Is(err, os.ErrNotExist):
			return nil, rundir.Ended(e.Session, err)
		default:
			return nil, wire.NewFault(wire.Unreachable, fmt.Sprintf("%s: the conversation has ended", e), err)
		}
	}
}

// Handshake requests the Hello of the other process.
func (r *Client) Handshake(ctx context.Context) error {
	return r.InTime(ctx, func(ctx context.Context) error {
		raw, err := r.p.Call(ctx, "hello", nil)
		if err == nil {
			err = json.Unmarshal(raw, &r.hello)
		}
		if err == nil {
			_, err = all.Lookup(r.hello.Dialect)
		}
		ended := isLostSocket(err)
		switch err := FromRPC(err); {
		case err == nil && r.e.Dialect != "" && r.e.Dialect != r.hello.Dialect:
			return wire.Usagef("%s uses the %s dialect, not %s", r.e, r.hello.Dialect, r.e.Dialect)
		case err == nil, ctx.Err() != nil:
			return err
		case r.e.Session != "" && ended:
			return rundir.Ended(r.e.Session, err)
		case r.e.Session != "" && wire.AsFault(err) != nil:
			return err // why the stream could not be opened
		default:
			return wire.NewFault(wire.Unreachable, fmt.Sprintf("%s is not an rpcx conversation", r.e), err)
		}
	})
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
