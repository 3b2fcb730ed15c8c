// Command rpcx makes a shell script a full peer of any bidirectional JSON-RPC
// system: it calls, streams, and answers the calls that come back.
//
// A package imports only what is below it; CONTRIBUTING.md is the map:
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
// To add a transport, touch wire/transport and wire/endpoint/parse.go; a framing:
// wire/framing; a dialect: a folder below wire/dialect and its line in
// wire/dialect/all; a command: a file in commands and its row in commands/root.go;
// a flag: its group in commands/options; an exit status: wire/fault.go and
// commands/cmdline/exit.go. Then scripts/gen and scripts/check.
package main

import (
	"os"

	"rpcx/commands"
)

func main() {
	deepen()
	commands.Main(os.Args).Exit()
}

// deepen gives this goroutine the stack that a command needs, while there is little on it:
// growing it step by step copies it five times, which is a tenth of what a call costs.
//
//go:noinline
func deepen() byte {
	var room [24 << 10]byte
	return room[len(os.Args)]
}
