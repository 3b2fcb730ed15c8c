// Command rpcx makes a shell script a full peer of any bidirectional JSON-RPC system: it calls, streams, and answers
// calls from the peer.
//
// A package imports only packages below it; CONTRIBUTING.md is the map:
//
//	commands          the command line: a file or a directory for each command
//	commands/request  requests: connecting, sending, printing, retrying
//	commands/options  flags that commands share; commands/dialects: flags of one dialect
//	commands/cmdline  flags, help, exit statuses; commands/params: params from arguments
//	format            the output on stdout and stderr
//	wire/session      connections and session processes; wire/endpoint: parsing, detection
//	wire/serve        catalogs and policies of a server; wire/hook: hooks
//	wire/peer         the engine: calls in both directions, in any dialect
//	wire/dialect      translates between messages and operations; a directory for each dialect
//	wire/transport    moves bytes; wire/framing: where a message ends
//	wire              basic types: messages, events, faults; wire/scan: JSON
//
// A transport needs changes in wire/transport and wire/endpoint/parse.go, and a framing in wire/framing. A dialect is a
// directory below wire/dialect and a line in wire/dialect/all. A command is a file in commands and a row in
// commands/root.go, and a flag belongs to its group in commands/options. An exit status is in wire/fault.go and
// commands/cmdline/exit.go. After a change, run scripts/gen and scripts/check.
package main

import (
	"os"

	"rpcx/commands"
)

func main() {
	deepen()
	commands.Main(os.Args).Exit()
}

// deepen gives this goroutine the stack that a command needs, while the stack is nearly empty. Growing the stack step
// by step would copy it five times, which takes a tenth of the time of a call.
//
//go:noinline
func deepen() byte {
	var room [24 << 10]byte
	return room[len(os.Args)]
}
