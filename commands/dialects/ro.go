package dialects

import "rpcx/commands/cmdline"

// roRow has only examples.
var roRow = row{
	examples: map[string][]cmdline.Example{
		"call":      {{Says: "Call a verb of a resource (RO-JRPC)", Command: "rpcx call demo:ro repo/99/issue/7:get"}},
		"subscribe": {{Says: "Print the events of one target without a request (RO-JRPC)", Command: "rpcx subscribe ro+ws://localhost:8080/ session/session-9"}},
		"job run":   {{Says: "Upload a file to the demo", Command: "rpcx job run demo:ro attachment:create filename=report.pdf"}},
		"job list":  {{Says: "List the jobs of a session", Command: "rpcx connect demo:ro --session work\nrpcx job list @work"}},
	},
}
