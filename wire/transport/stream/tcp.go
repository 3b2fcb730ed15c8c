package stream

import (
	"context"
	"fmt"
	"net"
	"strings"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// ListenTCP binds host[:port] of a; without a port, the scheme's. It refuses,
// before it binds, to be reachable by others without any of the three things
// that make it so on purpose. at is the host as it was given, with the port that
// was bound; for a wildcard, the loopback address through which this machine reaches it.
func ListenTCP(ctx context.Context, a transport.Address, c transport.Config) (l net.Listener, at string, err error) {
	host, port, err := net.SplitHostPort(a.Host)
	if err != nil {
		host, port = strings.Trim(a.Host, "[]"), "80"
		if a.Scheme == "wss" || a.Scheme == "https" {
			port = "443"
		}
	}
	addr, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, "", wire.NewFault(wire.Unreachable, fmt.Sprintf("cannot listen on %s: %v", a, transport.Innermost(err)), err)
	}
	if !addr.IP.IsLoopback() && c.Token == "" && c.TLS.CACert == "" && !c.Public {
		f := transport.Usage("%s: others can reach this address", a)
		f.Hint = openly(a.Scheme)
		return nil, "", f
	}
	l, err = new(net.ListenConfig).Listen(ctx, "tcp", addr.String())
	if err != nil {
		why := err
		if op, ok := err.(*net.OpError); ok {
			why = op.Err
		}
		return nil, "", wire.NewFault(wire.Unreachable, fmt.Sprintf("cannot listen on %s: %v", a, why), err)
	}
	_, port, _ = net.SplitHostPort(l.Addr().String())
	switch {
	case host == "", addr.IP.Equal(net.IPv4zero) && net.ParseIP(host) != nil:
		host = "127.0.0.1"
	case addr.IP.IsUnspecified() && net.ParseIP(host) != nil:
		host = "::1"
	}
	return l, net.JoinHostPort(host, port), nil
}

// openly names the flags that allow a listener to be reached by other machines.
func openly(scheme string) string {
	switch scheme {
	case "tcp":
		return "say --public, or listen on tls:// and demand client certificates (--cacert FILE)"
	case "tls":
		return "demand client certificates (--cacert FILE), or say --public"
	}
	return "demand a token (--token @FILE) or client certificates (--cacert FILE), or say --public"
}
