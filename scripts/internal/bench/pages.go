package main

import (
	"fmt"
	"os"
	"slices"
)

// namesPage spells JSON-RPC as a page that builds on nothing; programsPage takes each item
// by programs: one that decides whose it is, and one that is a path.
const (
	namesPage = `
name = "names"
base = "none"
[names]
request = { method = "method", params = "params", id = "id", const = { jsonrpc = "2.0" } }
response = { id = "id", result = "result", error = "error" }
`
	programsPage = `
name = "programs"
[subscribe.ticks]
item = { method = "ticks", when = ".subscription == $result", event = ".result" }
`
)

// pageRows compare dialects that are pages with the one that they spell.
func pageRows() []row {
	return []row{
		{
			name: "page-names", what: "a page of names: `call --batch`, 64 in flight, over a Unix socket", unit: cpuPerCall, n: size{50_000, 10_000}, runs: size{9, 3},
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
			name: "page-programs", what: "a page whose programs take each item of a stream", unit: cpuPerEvent, n: size{300_000, 50_000}, runs: size{9, 3},
			clients: func(l *lab, n int) ([]client, error) {
				return l.withPage("programs", programsPage, l.rpcx("subscribe", l.unix, "ticks", fmt.Sprintf("[%d,240]", n), "--count", fmt.Sprint(n)))
			},
		},
	}
}

// withPage is a job in the dialect of a page, and as it is.
func (l *lab) withPage(name, text string, plain job) ([]client, error) {
	file := l.at(name + ".toml")
	paged := plain
	paged.args = append(slices.Clone(plain.args), "--dialect", file)
	return []client{{"rpcx", paged}, {"jsonrpc", plain}}, os.WriteFile(file, []byte(text), 0o600)
}
