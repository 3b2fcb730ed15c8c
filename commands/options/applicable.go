package options

import (
	"slices"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/transport/schemes"
)

// encrypted are the transports with TLS.
var encrypted = []string{"wss", "https", "tls"}

// An applicability lists the transports for which some flags have a meaning.
type applicability struct {
	flags, schemes []string
	listening      []string // further transports if we listen
	hint           string
	dialling       bool // they have no meaning if the peer connects to us
}

// holds reports whether the flags have a meaning for the transport of e.
func (m applicability) holds(e endpoint.Endpoint, listens bool) bool {
	scheme := e.Address.Scheme
	if m.dialling && e.Reversed == endpoint.Accept {
		return false
	}
	return slices.Contains(m.schemes, scheme) || (listens || e.Reversed != "") && slices.Contains(m.listening, scheme)
}

// applicabilities are the flags of a connection that only have a meaning for some
// transports. --header and --ping are checked by the transports themselves.
var applicabilities = []applicability{
	{[]string{"cacert", "cert", "key", "insecure"}, encrypted, nil, "only wss, https and tls speak TLS", false},
	{[]string{"subprotocol"}, []string{"ws", "wss", "ws+unix"}, []string{"http", "https", "http+unix"}, "subprotocols are WebSocket's", false},
	{[]string{"noise"}, []string{"exec", "ipc"}, nil, "noise is tolerated from children only", false},
	{[]string{"connect-timeout"}, []string{"ws", "wss", "ws+unix", "http", "https", "http+unix", "tcp", "tls", "unix"}, nil, "nothing is connected to", false},
	{[]string{"proxy", "resolve"}, []string{"ws", "wss", "http", "https", "tcp", "tls"}, nil, "only what is connected to over the network has a proxy, or a name to look up", true},
}

// CheckApplicable returns an error for flags, and keys of the profile, that have
// no meaning for the transport of e: a user who names certificates must not
// believe that the connection is encrypted. Keys of [default] are for every
// peer and are ignored where they have no meaning.
func CheckApplicable(l *cmdline.CommandLine, e endpoint.Endpoint, listens bool) error {
	return checkApplicable(l, e, listens, func(applicability) bool { return false })
}

// CheckApplicableTo is CheckApplicable for a command that reaches the peer to, which --to names, and may listen beside that: a
// flag has to mean something for one of the two, a header for the peer.
func CheckApplicableTo(l *cmdline.CommandLine, to endpoint.Endpoint, listen ...endpoint.Endpoint) error {
	if to.Socket != "" || to.Session != "" {
		for _, e := range listen {
			return CheckApplicable(l, e, true)
		}
		return nil
	}
	if !to.TakesHeaders() {
		if f := notApplicable(l, to, "header"); f != nil {
			f.Hint = "headers are for ws, wss, http, https and the framing header"
			return f
		}
	}
	return checkApplicable(l, to, false, func(m applicability) bool {
		return slices.ContainsFunc(listen, func(e endpoint.Endpoint) bool { return m.holds(e, true) })
	})
}

// checkApplicable is CheckApplicable, but for flags of the command line that mean something elsewhere.
func checkApplicable(l *cmdline.CommandLine, e endpoint.Endpoint, listens bool, elsewhere func(applicability) bool) error {
	if e.Socket != "" || e.Session != "" { // another process makes the connection
		return nil
	}
	for _, m := range applicabilities {
		if m.holds(e, listens) {
			continue
		}
		for _, flag := range m.flags {
			if l.Has(flag) && elsewhere(m) {
				continue
			}
			if f := notApplicable(l, e, flag); f != nil {
				f.Hint = m.hint
				return f
			}
		}
	}
	if listens {
		return nil
	}
	if !e.TakesHeaders() { // checked before --token-command is run
		if f := notApplicable(l, e, "token-command"); f != nil {
			f.Hint = "a token goes into a header, which ws, wss, http, https and the framing header have"
			return f
		}
	}
	return unusedResolve(l, e)
}

// applies reports whether a key of [default] has a meaning for e. A key without one is ignored: it
// is meant for other peers.
func applies(key string, e endpoint.Endpoint) bool {
	switch key {
	case "ping":
		return schemes.Pings(e.Address)
	case "shutdown-timeout":
		return e.Socket == "" && e.Session == "" && e.Spec().Handshake.Plugin
	}
	return true
}

// notApplicable returns the usage Fault for a flag, or the profile's key of that name, that was
// given and has no meaning for e; nil if it was not given.
func notApplicable(l *cmdline.CommandLine, e endpoint.Endpoint, flag string) *wire.Fault {
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
