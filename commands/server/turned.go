package server

import (
	"rpcx/commands/cmdline"
	"rpcx/wire/endpoint"
)

// Flags that are for one of the two: who listens, and who dials.
var (
	listens = []string{"allow-origin", "token", "public", "listening"}
	dials   = []string{"header", "insecure", "connect-timeout", "wait", "token-command", "proxy", "resolve"}
)

// CheckTurned refuses flags that have no meaning for how clients and e come together.
func (o *Options) CheckTurned(l *cmdline.CommandLine, e endpoint.Endpoint) error {
	flags, hint := dials, "dial+ before the transport has us connect to the client"
	if e.Turned == endpoint.Dial {
		flags, hint = listens, "dial+ listens nowhere"
	}
	for _, flag := range flags {
		if l.Has(flag) && o.To == "" {
			f := l.Usage("--%s has no meaning for %s", flag, e)
			f.Hint = hint
			return f
		}
	}
	return nil
}
