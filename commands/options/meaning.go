package options

import (
	"slices"

	"rpcx/commands/cmdline"
	"rpcx/wire/endpoint"
)

// encrypted are the transports that speak TLS.
var encrypted = []string{"wss", "https", "tls"}

// meanings are the flags of a connection that only some transports have a use for. Headers
// and --ping are refused by the transport itself.
var meanings = []struct {
	flags, schemes []string
	listening      []string // transports that have a use for them where we listen, too
	hint           string
}{
	{[]string{"cacert", "cert", "key", "insecure"}, encrypted, nil, "only wss, https and tls speak TLS"},
	{[]string{"subprotocol"}, []string{"ws", "wss", "ws+unix"}, []string{"http", "https", "http+unix"}, "subprotocols are WebSocket's"},
	{[]string{"noise"}, []string{"exec", "ipc"}, nil, "noise is tolerated from children only"},
	{[]string{"connect-timeout"}, []string{"ws", "wss", "ws+unix", "http", "https", "http+unix", "tcp", "tls", "unix"}, nil, "nothing is connected to"},
}

// CheckMeaning refuses flags of the command line that have no meaning for the transport of
// e: who names certificates must not believe that the connection is encrypted.
func CheckMeaning(l *cmdline.CommandLine, e endpoint.Endpoint, listens bool) error {
	if e.Socket != "" || e.Session != "" { // how it is connected is another process's matter
		return nil
	}
	for _, m := range meanings {
		scheme := e.Address.Scheme
		if slices.Contains(m.schemes, scheme) || (listens || e.Turned != "") && slices.Contains(m.listening, scheme) {
			continue
		}
		for _, flag := range m.flags {
			if l.Has(flag) {
				f := l.Usage("--%s has no meaning for %s", flag, e)
				f.Hint = m.hint
				return f
			}
		}
	}
	return nil
}
