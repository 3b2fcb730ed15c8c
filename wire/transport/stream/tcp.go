package stream

import (
	"context"
	"fmt"
	"net"
	"strings"

	"rpcx/wire"
	"rpcx/wire/syserr"
	"rpcx/wire/transport"
)

// ListenTCP listens at the host[:port] of a. If there is no port, it uses the default port of the scheme. It rejects an
// address that other machines can reach, unless there is a token, client certificates are required, or --public is set.
// at is the host as given with the bound port; for a wildcard address, the host is a loopback address.
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
		return nil, "", wire.Usagef("%s: other machines can connect to this address", a).WithHint(publicHint(a.Scheme))
	}
	l, err = new(net.ListenConfig).Listen(ctx, "tcp", addr.String())
	if err != nil {
		return nil, "", listenFault(a, err)
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

// publicHint returns the hint that lists the flags with which other machines may connect.
func publicHint(scheme string) string {
	switch scheme {
	case "tcp":
		return "add --public, or listen on tls:// and require client certificates (--cacert FILE)"
	case "tls":
		return "require client certificates (--cacert FILE), or add --public"
	}
	return "require a token (--token @FILE) or client certificates (--cacert FILE), or add --public"
}

// listenFault returns the Fault for a failure to listen at a. Its kind is Conflict if another process is already
// listening there.
func listenFault(a transport.Address, err error) error {
	kind := wire.Unreachable
	if syserr.Busy(err) {
		kind = wire.Conflict
	}
	return wire.NewFault(kind, fmt.Sprintf("cannot listen on %s: %v", a, transport.WithoutAddress(err)), err)
}
