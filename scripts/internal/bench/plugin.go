package main

// pluginRows compare calls to a Scriptling plugin, with rpcx at both ends of a pipe, with the same calls in JSON-RPC.
func pluginRows() []row {
	return []row{{
		name: "plugin", what: "a plugin that is called, 16 in flight, both sides", unit: cpuPerCall, n: size{20_000, 5_000}, runs: size{5, 3},
		clients: func(l *lab, n int) ([]client, error) {
			requests, err := l.requests(n)
			if err != nil {
				return nil, err
			}
			batch := func(endpoint string) job {
				j := l.rpcx("call", endpoint, "--batch", "--jobs", "16")
				j.stdin = requests
				return j
			}
			return []client{
				{"rpcx", batch("scriptling+exec:" + l.at("rpcx") + " plugin serve --on echo=jq:.args[0]")},
				{"JSON-RPC over a pipe", batch("exec:" + l.at("rpcx") + " serve stdio: --on echo=jq:.[0]")},
			}, nil
		},
	}}
}
