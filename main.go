// Command rpcx makes a shell script a full peer of any bidirectional JSON-RPC
// system: it calls, streams, and answers the calls that come back.
package main

import (
	"os"

	"rpcx/commands"
)

func main() { os.Exit(commands.Main(os.Args)) }
