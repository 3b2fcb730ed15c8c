package transport

import (
	"fmt"

	"rpcx/wire"
)

// An Address is a transport and what it reaches, taken apart.
type Address struct {
	Scheme  string   // "ws", "http+unix", "exec", …
	Host    string   // host:port of ws, wss, http, https, tcp, tls
	Path    string   // the socket's path of unix, ws+unix, http+unix
	URLPath string   // path and query of ws and http, beginning with "/"
	Command []string // the words of exec and ipc; empty for `ipc:` alone
}

// usage is a Fault of kind Usage.
func usage(format string, args ...any) *wire.Fault {
	return wire.NewFault(wire.Usage, fmt.Sprintf(format, args...), nil)
}
