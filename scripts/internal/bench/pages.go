package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
)

// namesPage defines JSON-RPC as a dialect file without a base. programsPage reads each item with two programs, one of which finds
// the stream and one of which is a path. wrapsPage wraps each call in another and unwraps its result, with four programs.
const (
	namesPage = `
name = "names"
base = "none"
[names]
request = { method = "method", params = "params", id = "id", const = { jsonrpc = "2.0" } }
response = { id = "id", result = "result", error = "error", const = { jsonrpc = "2.0" } }
`
	programsPage = `
name = "programs"
[subscribe.ticks]
item = { method = "ticks", when = ".subscription == $result", event = ".result" }
`
	wrapsPage = `
name = "wraps"
[call]
method = '"echo"'
params = '{name: $method, arguments: $params}'
result = 'if .structured then .structured else .arguments.text end'
error = 'if .isError then {code: 1, message: "no"} else empty end'
`
)

// programsMost bounds the time for a message of 200 bytes that programs read, in µs. It allows 50,000 messages per second.
const programsMost = 20

// pageRows compare dialect files with the embedded dialect that they define.
func pageRows() []row {
	asNames := goal{ratio: 1.3, of: isPlain}
	return []row{
		{
			name: "page-names", what: "a page of names: `call --batch`, 64 in flight, over a Unix socket", unit: cpuPerCall, goal: asNames, n: size{200_000, 20_000}, runs: size{9, 3},
			clients: func(l *lab, n int) ([]client, error) {
				requests, err := l.requests(n)
				if err != nil {
					return nil, err
				}
				batch := l.rpcx("call", l.unix, "--batch", "--jobs", "64")
				batch.stdin = requests
				return l.withPage("names", namesPage, batch)
			},
		},
		{
			name: "page-stream", what: "a page of names: `subscribe --method`, 240 B", unit: cpuPerEvent, goal: asNames, n: size{300_000, 50_000}, runs: size{9, 3},
			clients: func(l *lab, n int) ([]client, error) {
				return l.withPage("names", namesPage, l.rpcx("subscribe", l.unix, "ticks", fmt.Sprintf("[%d,240]", n), "--method", "ticks", "--count", fmt.Sprint(n)))
			},
		},
		{
			name: "page-serve", what: "a page of names: `serve stdio:`, all calls at once", unit: cpuPerCall, goal: asNames, n: size{50_000, 10_000}, runs: size{9, 3},
			clients: func(l *lab, n int) ([]client, error) {
				var calls bytes.Buffer
				for i := range n {
					fmt.Fprintf(&calls, `{"jsonrpc":"2.0","id":%d,"method":"echo","params":[%d]}`+"\n", i+1, i+1)
				}
				serve := l.rpcx("serve", "stdio:", "--on", "echo=json:1")
				serve.stdin = l.at("calls")
				if err := os.WriteFile(serve.stdin, calls.Bytes(), 0o600); err != nil {
					return nil, err
				}
				return l.withPage("names", namesPage, serve)
			},
		},
		{
			name: "page-programs", what: "a page whose programs take each item of a stream, 240 B", unit: cpuPerEvent, most: programsMost, n: size{300_000, 50_000}, runs: size{9, 3},
			clients: func(l *lab, n int) ([]client, error) {
				return l.withPage("programs", programsPage, l.rpcx("subscribe", l.unix, "ticks", fmt.Sprintf("[%d,240]", n), "--count", fmt.Sprint(n)))
			},
		},
		{
			name: "page-wraps", what: "a page whose programs wrap each call and its answer, 200 B both", unit: cpuPerCall, most: 2 * programsMost, n: size{50_000, 10_000}, runs: size{9, 3},
			clients: func(l *lab, n int) ([]client, error) {
				text := strings.Repeat("x", 110)
				var lines bytes.Buffer
				for range n {
					fmt.Fprintf(&lines, `{"method":"say","params":{"text":"%s"}}`+"\n", text)
				}
				batch := l.rpcx("call", l.unix, "--batch", "--jobs", "64")
				batch.stdin = l.at("says")
				if err := os.WriteFile(batch.stdin, lines.Bytes(), 0o600); err != nil {
					return nil, err
				}
				return l.withPage("wraps", wrapsPage, batch)
			},
		},
	}
}

// isPlain is the dialect with which dialect files are compared.
const isPlain = "jsonrpc"

// withPage returns a job that uses a dialect file, and the same job without it.
func (l *lab) withPage(name, text string, plain job) ([]client, error) {
	file := l.at(name + ".toml")
	paged := plain
	paged.args = append(slices.Clone(plain.args), "--dialect", file)
	return []client{{"rpcx", paged}, {isPlain, plain}}, os.WriteFile(file, []byte(text), 0o600)
}
