package main

import "os"

// netAlone is the raw client for one call, which shows the least time that a Go program takes.
const netAlone = "Go, net alone"

var callRuns = size{80, 20}

// callRows measure one call each: the program starts, connects, sends a request, prints and exits.
func callRows() []row {
	one := func(name, what string, ratio float64, clients func(l *lab) ([]client, error)) row {
		return row{
			name: name, what: what, unit: wallPerRun, goal: goal{ratio, netAlone}, n: size{1, 1}, runs: callRuns,
			clients: func(l *lab, _ int) ([]client, error) { return clients(l) },
		}
	}
	return []row{
		one("call-ws", "one call over ws", 1.5, func(l *lab) ([]client, error) {
			all := []client{
				{"rpcx", l.rpcx("call", l.ws, "echo", "[1]")},
				{netAlone, job{args: []string{l.at("raw"), "call", l.ws}}},
				{"the four libraries, doing nothing", job{args: []string{l.at("linked")}}},
			}
			return append(all, l.node()...), nil
		}),
		one("call-http", "one call over http", 1.5, func(l *lab) ([]client, error) {
			all := []client{
				{"rpcx", l.rpcx("call", l.http, "echo", "[1]")},
				{netAlone, job{args: []string{l.at("raw"), "call", l.http}}},
			}
			if found("curl") {
				all = append(all, client{"curl", job{args: []string{
					"curl", "-sS", l.http, "-H", "Content-Type: application/json",
					"-d", `{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}`,
				}}})
			}
			return all, nil
		}),
		one("call-unix", "one call over a Unix socket", 1.5, func(l *lab) ([]client, error) {
			return []client{
				{"rpcx", l.rpcx("call", l.unix, "echo", "[1]")},
				{netAlone, job{args: []string{l.at("raw"), "call", l.unix}}},
			}, nil
		}),
		one("call-session", "one call over ws through a session", 1.3, func(l *lab) ([]client, error) {
			if err := l.session("own", l.ws); err != nil {
				return nil, err
			}
			return []client{
				{"rpcx", l.rpcx("call", "@own", "echo", "[1]")},
				{netAlone, job{args: []string{l.at("raw"), "call", l.ws}}},
				{"rpcx on its own connection", l.rpcx("call", l.ws, "echo", "[1]")},
			}, nil
		}),
		one("call-demo", "one call of an embedded server", 1.5, func(l *lab) ([]client, error) {
			return []client{
				{"rpcx", l.rpcx("call", "demo:orders", "listOrders", "limit:=1")},
				{netAlone, job{args: []string{l.at("raw"), "call", l.ws}}},
				{"rpcx and a peer", l.rpcx("call", l.ws, "echo", "[1]")},
			}, nil
		}),
	}
}

// startRows measure programs that do almost nothing.
func startRows() []row {
	return []row{{
		name: "start", what: "`rpcx --version`", unit: wallPerRun, n: size{1, 1}, runs: callRuns,
		clients: func(l *lab, _ int) ([]client, error) {
			all := []client{
				{"rpcx", l.rpcx("--version")},
				{"Go hello", job{args: []string{l.at("hello")}}},
				{"the four libraries, doing nothing", job{args: []string{l.at("linked")}}},
			}
			if found("jq") {
				all = append(all, client{"jq -n 1", job{args: []string{"jq", "-n", "1"}}})
			}
			return all, nil
		},
	}}
}

// nodeCall makes one call with the package ws.
const nodeCall = `const c = new (require("ws"))(process.argv[1]);
c.on("open", () => c.send('{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}'));
c.on("message", (m) => { console.log(String(JSON.parse(m).result)); c.close(); });`

// node makes one call with wscat or, with wscat's package ws, with a Node.js script.
func (l *lab) node() []client {
	if found("wscat") {
		return []client{{"wscat", job{args: []string{"wscat", "-c", l.ws, "-w", "0", "-x", `{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}`}}}}
	}
	if _, err := os.Stat(modules + "/ws"); err != nil || !found("node") {
		return nil
	}
	wd, err := os.Getwd()
	if err != nil {
		return nil
	}
	return []client{{"Node, ws", job{args: []string{"node", "-e", nodeCall, l.ws}, env: []string{"NODE_PATH=" + wd + "/" + modules}}}}
}
