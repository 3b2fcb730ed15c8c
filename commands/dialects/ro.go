package dialects

import "rpcx/commands/cmdline"

// roRow is the row of the table: nothing but examples.
var roRow = row{
	examples: map[string][]cmdline.Example{
		"call":      {{Says: "A verb of a resource, in RO-JRPC", Command: "rpcx call demo:ro repo/99/issue/7:get"}},
		"subscribe": {{Says: "What comes of one target in RO-JRPC, with nothing sent", Command: "rpcx subscribe ro+ws://localhost:8080/ session/session-9"}},
		"job run":   {{Says: "An upload of the demo", Command: "rpcx job run demo:ro attachment:create filename=report.pdf"}},
	},
}
