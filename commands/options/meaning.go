package options

import (
	"slices"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/transport"
)

// encrypted are the transports that speak TLS.
var encrypted = []string{"wss", "https", "tls"}

// A meaning says which transports have a use for some flags.
type meaning struct {
	flags, schemes []string
	listening      []string // transports that have a use for them where we listen, too
	hint           string
	dialling       bool // they mean nothing where the peer connects to us
}

// holds reports whether the transport of e has a use for the flags.
func (m meaning) holds(e endpoint.Endpoint, listens bool) bool {
	scheme := e.Address.Scheme
	if m.dialling && e.Turned == endpoint.Accept {
		return false
	}
	return slices.Contains(m.schemes, scheme) || (listens || e.Turned != "") && slices.Contains(m.listening, scheme)
}

// meanings are the flags of a connection that only some transports have a use for.
// --header and --ping are refused by the transport itself.
var meanings = []meaning{
	{[]string{"cacert", "cert", "key", "insecure"}, encrypted, nil, "only wss, https and tls speak TLS", false},
	{[]string{"subprotocol"}, []string{"ws", "wss", "ws+unix"}, []string{"http", "https", "http+unix"}, "subprotocols are WebSocket's", false},
	{[]string{"noise"}, []string{"exec", "ipc"}, nil, "noise is tolerated from children only", false},
	{[]string{"connect-timeout"}, []string{"ws", "wss", "ws+unix", "http", "https", "http+unix", "tcp", "tls", "unix"}, nil, "nothing is connected to", false},
	{[]string{"proxy", "resolve"}, []string{"ws", "wss", "http", "https", "tcp", "tls"}, nil, "only what is connected to over the network has a proxy, or a name to look up", true},
}

// CheckMeaning refuses flags of the command line, and keys of the profile, that have no
// meaning for the transport of e: who names certificates must not believe that the
// connection is encrypted. What [default] says is for every peer, and counts where it can.
func CheckMeaning(l *cmdline.CommandLine, e endpoint.Endpoint, listens bool) error {
	if e.Socket != "" || e.Session != "" { // how it is connected is another process's matter
		return nil
	}
	for _, m := range meanings {
		if m.holds(e, listens) {
			continue
		}
		for _, flag := range m.flags {
			if f := pointless(l, e, flag); f != nil {
				f.Hint = m.hint
				return f
			}
		}
	}
	if listens {
		return nil
	}
	if !e.TakesHeaders() { // a command that prints a secret is not even run then
		if f := pointless(l, e, "token-command"); f != nil {
			f.Hint = "a token goes into a header, which ws, wss, http, https and the framing header have"
			return f
		}
	}
	return strayResolve(l, e)
}

// counts reports whether a key of [default] has a meaning for e. One that has none is passed
// over, as it is there for others.
func counts(key string, e endpoint.Endpoint) bool {
	switch key {
	case "ping":
		return transport.Pings(e.Address)
	case "shutdown-timeout":
		return e.Socket == "" && e.Session == "" && e.Spec().Plugin
	}
	return true
}

// pointless names a flag, or the profile's key of that name, as one that has no meaning for
// e; nil: neither is given, or the command has no such flag.
func pointless(l *cmdline.CommandLine, e endpoint.Endpoint, flag string) *wire.Fault {
	switch {
	case l.Has(flag):
		return l.Usage("--%s has no meaning for %s", flag, e)
	case e.Profile == nil || l.Lookup(flag) == nil:
		return nil
	}
	if s := e.Profile.Setting(flag); s != nil {
		return wire.Usagef("%s has no meaning for %s", s.Where(), e)
	}
	return nil
}
