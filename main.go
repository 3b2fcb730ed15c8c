// Command rpcx makes a shell script a full peer of any bidirectional JSON-RPC system: it calls, streams, and answers
// calls from the peer.
//
// A package imports only packages below it; CONTRIBUTING.md is the map:
//
//	commands          what a user types: a file or a folder for each command
//	commands/request  the life of a request: connect, send, print to the end
//	commands/options  flags that commands share; commands/dialects those of one dialect
//	commands/cmdline  flags, help, exit statuses; commands/params: params from words
//	format            lines on stdout, words on stderr
//	wire/session      connections, and the processes that hold them; wire/endpoint: their names
//	wire/serve        what a server offers and allows; wire/hook: what answers
//	wire/peer         the engine: calls in two directions, in any dialect
//	wire/dialect      messages to operations and events, and back; a folder for each
//	wire/transport    how bytes travel; wire/framing: where a message ends
//	wire              the words of all: messages, events, faults; wire/scan: JSON
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
