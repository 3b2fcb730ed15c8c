package options

import (
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/transport"
	"rpcx/wire/transport/stream"
)

// Route holds the flags for the route to a network peer: a proxy, and addresses of host names.
type Route struct {
	proxy   *string // nil if not given, "" for no proxy
	resolve []string
}

// flags returns the flags.
func (r *Route) flags() []cmdline.Flag {
	return []cmdline.Flag{
		cmdline.OptionalText(cmdline.GroupConnection, "proxy", "connect through the proxy at `URL`: http://, https://, socks5:// or socks5h:// (\"\": none)", &r.proxy),
		cmdline.List(cmdline.GroupConnection, "resolve", "", "`HOST:PORT:ADDRESS`: connect to ADDRESS for HOST:PORT", &r.resolve),
	}
}

// route parses the flags.
func (r *Route) route() (to transport.Route, err error) {
	switch {
	case r.proxy == nil:
	case *r.proxy == "":
		to.Direct = true
	default:
		if to.Proxy, err = stream.ParseProxy(*r.proxy); err != nil {
			return to, wire.Usagef("--proxy: %v", err)
		}
	}
	for _, text := range r.resolve {
		hostPort, address, err := stream.ParseResolve(text)
		if err != nil {
			return to, wire.Usagef("--resolve: %v", err)
		}
		wire.Put(&to.Resolve, hostPort, address)
	}
	return to, nil
}

// unusedResolve returns a usage Fault for a --resolve on the command line that names a host not on the route to e,
// because it would have no effect. A --resolve in a profile or in [default] may be for other peers.
func unusedResolve(l *cmdline.CommandLine, e endpoint.Endpoint) error {
	if e.Socket != "" {
		return nil
	}
	r := Route{}
	for _, f := range l.Flags {
		if value, ok := strings.CutPrefix(f, "--resolve="); ok {
			r.resolve = append(r.resolve, value)
		}
		if value, ok := strings.CutPrefix(f, "--proxy="); ok {
			r.proxy = &value
		}
	}
	if r.resolve == nil {
		return nil
	}
	to, err := r.route()
	if err != nil {
		return err
	}
	hosts := stream.Hosts(to, e.Address)
	for name := range to.Resolve {
		if !slices.Contains(hosts, name) {
			return l.Usage("--resolve: %s is not a host on the route to %s", name, e).WithHint("use " + strings.Join(hosts, " and "))
		}
	}
	return nil
}
