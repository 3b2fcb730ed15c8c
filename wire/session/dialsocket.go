package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/peer"
)

// helloBound is how long another process of ours may take to answer what it can
// answer at once, and to say hello: one that is connecting says it when it is
// done.
const helloBound = 30 * time.Second

// dialClient reaches the conversation behind e.Socket.
func dialClient(ctx context.Context, e endpoint.Endpoint) (*Client, error) {
	bound, cancel := context.WithTimeout(ctx, helloBound)
	defer cancel()
	r, err := dialRemote(bound, e)
	pid := 0
	if err == nil {
		pid = r.pid
		if err = r.greet(bound, e); err != nil {
			_ = r.Close()
			r = nil
		}
	}
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, ctx.Err()
	case e.Session != "" && bound.Err() != nil && err != nil:
		return nil, silent(e.Session, pid, err)
	}
	return r, err
}

// dialRemote connects to the socket, and asks for nothing yet.
func dialRemote(ctx context.Context, e endpoint.Endpoint) (*Client, error) {
	nc, err := dialUnix(ctx, e)
	if err != nil {
		return nil, err
	}
	r := &Client{hook: e.Hook, pid: peerPID(nc)}
	r.p = socketPeer(nc, peer.Options{Handler: func(c dialect.Caller) dialect.Handler { return &ownFunctions{r: r, c: c} }})
	return r, nil
}

// dialUnix connects to the socket. One that is not there any more is said to be
// gone, and what is left of it is removed.
func dialUnix(ctx context.Context, e endpoint.Endpoint) (net.Conn, error) {
	for {
		nc, err := new(net.Dialer).DialContext(ctx, "unix", e.Socket)
		switch {
		case err == nil:
			return nc, nil
		case crowded(err) && ctx.Err() == nil:
			select {
			case <-time.After(5 * time.Millisecond): // there is nothing else to wait for
			case <-ctx.Done():
			}
		case e.Session != "" && refused(err):
			return nil, gone(e.Socket, e.Session, err)
		case e.Session != "" && isGone(err):
			return nil, hasEnded(e.Session, err)
		default:
			return nil, wire.NewFault(wire.Unreachable, fmt.Sprintf("%s: no conversation is there any more", e), err)
		}
	}
}

// greet asks for whose conversation it is.
func (r *Client) greet(ctx context.Context, e endpoint.Endpoint) error {
	raw, err := r.p.Call(ctx, "hello", nil)
	if err == nil {
		err = json.Unmarshal(raw, &r.hello)
	}
	if err == nil {
		_, err = all.Lookup(r.hello.Dialect)
	}
	ended := isLostSocket(err)
	switch err := fromRPC(err); {
	case err == nil:
		if e.Dialect != "" && e.Dialect != r.hello.Dialect {
			return wire.Usagef("%s speaks %s, not %s", e, r.hello.Dialect, e.Dialect)
		}
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case e.Session != "" && ended:
		return hasEnded(e.Session, err)
	case e.Session != "" && wire.AsFault(err) != nil:
		return err // why it did not come to life
	default:
		return wire.NewFault(wire.Unreachable, fmt.Sprintf("%s does not answer as a conversation does", e), err)
	}
}

// fromSocket is what it means that something failed over the socket: what the
// other process told, or that its own end came without a word.
func fromSocket(err error) error {
	if isLostSocket(err) {
		return &wire.Fault{Kind: wire.Closed, Message: "the process that holds the connection has ended", Err: err}
	}
	return fromRPC(err)
}

// isLostSocket says that err is the end of the socket's own connection: not our
// doing, and not the end of the connection behind it, of which we were told.
func isLostSocket(err error) bool {
	var told *wire.Error
	f := wire.AsFault(err)
	return f != nil && f.Kind == wire.Closed && (f.Close != nil || f.Err != nil) && !errors.As(err, &told)
}
