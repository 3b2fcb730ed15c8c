package main

import (
	"fmt"
	"os"
	"os/exec"
)

// tapeRows compare a command with and without recording, record with programs that copy bytes, and a call to a tape with a call to
// an embedded server. A program between two peers usually copies one message at a time. If hundreds arrive together, copying costs
// almost nothing per message, and most of the cost of record is writing the tape. In that case, the goal is relative to a copy that
// also writes a file.
func tapeRows() []row {
	stream, runs := size{1_000_000, 100_000}, size{9, 3}
	return []row{
		{
			name: "tape-subscribe", what: "`subscribe --record`", unit: cpuPerEvent, goal: goal{1.25, "subscribe alone"}, n: stream, runs: runs,
			clients: func(l *lab, n int) ([]client, error) {
				subscribe := []string{"subscribe", l.ws, "ticks", fmt.Sprintf("[%d,240]", n), "--count", fmt.Sprint(n)}
				recorded := l.rpcx(append(subscribe, "--record", l.at("stream.tape"))...)
				recorded.fresh = l.at("stream.tape")
				return []client{
					{"rpcx", recorded},
					{"subscribe alone", l.rpcx(subscribe...)},
				}, nil
			},
		},
		recordRow("tape-record-each", "`record` between two peers, each message written by itself", "each", goal{}, stream, runs),
		recordRow("tape-record-bulk", "`record` between two peers, 64 KiB at a time", "ticks", goal{1.5, isFiled}, stream, runs),
		recordRow("tape-record-varied", "`record` between two peers, 64 KiB at a time, with messages that differ", "varied", goal{2, isFiled}, stream, runs),
		{
			name: "tape-record-calls", what: "`record`, one call after the other", unit: cpuPerCall, n: size{50_000, 10_000}, runs: runs,
			clients: func(l *lab, n int) ([]client, error) {
				between := l.rpcx("record", "stdio:", "--to", l.unix, "-o", l.at("stream.tape"))
				between.calls, between.fresh = n, l.at("stream.tape")
				return []client{
					{"rpcx", between},
					{"a copy of the bytes", job{calls: n, args: []string{l.at("raw"), "copy", l.unix}}},
				}, nil
			},
		},
		{
			name: "tape-call", what: "one call of `tape:`", unit: cpuPerRun, n: size{1, 1}, runs: callRuns,
			clients: func(l *lab, _ int) ([]client, error) {
				call := func(endpoint string) []string { return []string{"call", endpoint, "getOrder", "id=o_001"} }
				order := l.at("order.tape")
				if out, err := exec.Command(l.at("rpcx"), append(call("demo:orders"), "--record", order)...).CombinedOutput(); err != nil {
					return nil, fmt.Errorf("recording a call: %w: %s", err, out)
				}
				return []client{
					{"rpcx", l.rpcx(call("tape:" + order)...)},
					{"the same of `demo:`", l.rpcx(call("demo:orders")...)},
				}, nil
			},
		},
	}
}

// isFiled is the client that copies bytes and writes them to a file.
const isFiled = "a copy that is written to a file, too"

// recordRow measures rpcx record between a client that reads a stream and its server.
func recordRow(name, what, method string, most goal, n, runs size) row {
	return row{
		name: name, what: what, unit: cpuPerEvent, goal: most, n: n, runs: runs,
		clients: func(l *lab, n int) ([]client, error) {
			request := l.at(name)
			text := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":[%d,240]}`+"\n", method, n)
			if err := os.WriteFile(request, []byte(text), 0o600); err != nil {
				return nil, err
			}
			tape := l.at("stream.tape")
			between := func(args ...string) job { return job{stdin: request, read: true, args: args, fresh: tape} }
			return []client{
				{"rpcx", between(l.at("rpcx"), "record", "stdio:", "--to", l.unix, "-o", tape)},
				{"a copy of the bytes", between(l.at("raw"), "copy", l.unix)},
				{isFiled, between(l.at("raw"), "copy", l.unix, tape)},
			}, nil
		},
	}
}
