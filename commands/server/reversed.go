package server

import (
	"rpcx/commands/cmdline"
	"rpcx/wire/endpoint"
)

// Flags that only have a meaning if we listen, or if we dial.
var (
	listens = []string{"allow-origin", "token", "public", "listening"}
	dials   = []string{"header", "insecure", "connect-timeout", "wait", "token-command", "proxy", "resolve"}
)

// CheckReversed returns an error for flags that have no meaning in the way in
// which e and its clients connect: a user who gives a token must not believe
// that it is sent.
func CheckReversed(l *cmdline.CommandLine, e endpoint.Endpoint) error {
	flags, hint := dials, "it is for who connects"
	switch {
	case e.Reversed == endpoint.Dial:
		flags, hint = listens, "dial+ listens nowhere"
	case l.Path[0] == "serve":
		hint = "dial+ before the transport has us connect to the client"
	}
	for _, flag := range flags {
		if l.Has(flag) {
			f := l.Usage("--%s has no meaning for %s", flag, e)
			f.Hint = hint
			return f
		}
	}
	return nil
}
