package main

import (
	"fmt"
	"os"
	"path/filepath"
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

// pages compares dialects that are pages with the one that they spell.
func pages(t *table, rpcx, dir, requests string, far *far, size sizes) error {
	n := fmt.Sprint(size.stream)
	at := map[string]string{"names": namesPage, "programs": programsPage}
	for name, text := range at {
		at[name] = filepath.Join(dir, name+".toml")
		if err := os.WriteFile(at[name], []byte(text), 0o600); err != nil {
			return err
		}
	}
	batch := []string{rpcx, "call", far.unix, "--batch", "--jobs", "64"}
	err := t.measure(size.bulkRuns, usPer("call", size.bulk),
		program{"a page of names: call --batch --jobs 64 over a Unix socket", job{stdin: requests, args: append(batch[:len(batch):len(batch)], "--dialect", at["names"])}},
		program{"jsonrpc", job{stdin: requests, args: batch}})
	if err != nil {
		return err
	}
	subscribe := []string{rpcx, "subscribe", far.unix, "ticks", "[" + n + "]", "--count", n}
	return t.measure(size.streams, usPer("message", size.stream),
		program{"a page whose programs take each item", job{args: append(subscribe[:len(subscribe):len(subscribe)], "--dialect", at["programs"])}},
		program{"jsonrpc", job{args: subscribe}})
}
