//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A dialogue defines what a peer of one dialect sends: the greeting and the responses, written by hand from the specification.
type dialogue struct {
	prefix   string   // the endpoint's prefix
	greeting []string // messages that the peer sends first
	// answer returns the response to a message. greets reports whether it belongs to the handshake, and last whether the command
	// waits for its end.
	answer   func(p *peer, in request) (out []string, greets, last bool)
	question string // an unsolicited message, in which %d is a number
}

// A request is the part of a message that dialogues need.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Type   string          `json:"type"`
	Params json.RawMessage `json:"params"`
}

const rpcQuestion = `{"jsonrpc":"2.0","id":"q%d","method":"whoami"}`

// result returns a JSON-RPC response.
func result(id json.RawMessage, value string) []string {
	return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, value)}
}

func noSuch(r request) []string {
	if r.ID == nil || r.Method == "" {
		return nil
	}
	return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, r.ID)}
}

const tick = `{"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s1","result":1}}`

// adder answers every add with the sum of two numbers. If three sums are requested, the third is the last. For a recorder, it also
// sends ticks on request.
var adder = &dialogue{
	question: rpcQuestion,
	answer: func(p *peer, r request) ([]string, bool, bool) {
		if r.Method == "ticks" {
			return result(r.ID, `"s1"`), false, false
		}
		if r.Method != "add" {
			return noSuch(r), false, false
		}
		var terms [2]int
		if json.Unmarshal(r.Params, &terms) != nil {
			return noSuch(r), false, false
		}
		p.asked++
		return result(r.ID, fmt.Sprint(terms[0]+terms[1])), false, p.asked == max(1, p.calls)
	},
}

// counter streams two items as rpcx's jsonrpc server does.
var counter = &dialogue{
	question: rpcQuestion,
	answer: func(_ *peer, r request) ([]string, bool, bool) {
		if r.Method != "count" {
			return noSuch(r), false, false
		}
		return append(result(r.ID, `"s1"`),
			`{"jsonrpc":"2.0","method":"count","params":{"subscription":"s1","result":1}}`,
			`{"jsonrpc":"2.0","method":"count","params":{"subscription":"s1","result":2}}`,
			`{"jsonrpc":"2.0","method":"count","params":{"subscription":"s1","done":true}}`), false, true
	},
}

// describer returns an OpenRPC document.
var describer = &dialogue{
	prefix: "jsonrpc+", question: rpcQuestion,
	answer: func(_ *peer, r request) ([]string, bool, bool) {
		if r.Method != "rpc.discover" {
			return noSuch(r), false, false
		}
		return result(r.ID, `{"openrpc":"1.3.2","info":{"title":"sums","version":"1.0.0"},"methods":[{"name":"add","params":[{"name":"a","schema":{"type":"integer"}}],"result":{"name":"sum","schema":{"type":"integer"}}}]}`), false, true
	},
}

// evaluator is a scomp server.
var evaluator = &dialogue{
	prefix:   "scomp+",
	question: `{"jsonrpc":"2.0","id":%d,"method":"invoke","params":{"name":"whoami","input":{}}}`,
	answer: func(_ *peer, r request) ([]string, bool, bool) {
		switch r.Method {
		case "handshake":
			return result(r.ID, `{"protocol":"0.1","sessionId":"sess_8f2a3c","bindings":[]}`), true, false
		case "eval":
			return result(r.ID, `{"value":3}`), false, true
		}
		return noSuch(r), false, false
	},
}

// pluginPeer is a Scriptling plugin.
var pluginPeer = &dialogue{
	prefix:   "scriptling+",
	question: `{"jsonrpc":"2.0","id":%d,"method":"host.log","params":{"level":"info","message":"hello"}}`,
	answer: func(_ *peer, r request) ([]string, bool, bool) {
		switch r.Method {
		case "scriptling.handshake":
			return result(r.ID, `{"protocol":"1.0","transport":"json","library":{"name":"hello","version":"1.0.0","description":"d"},"capabilities":[],"schema":{"functions":[{"name":"greet"}],"classes":[],"constants":[]}}`), true, false
		case "environment.open":
			return result(r.ID, "null"), true, false
		case "function.call":
			return result(r.ID, `{"type":"string","value":"Hello, Ada"}`), false, true
		case "environment.close", "plugin.shutdown":
			return result(r.ID, "null"), false, false
		}
		return noSuch(r), false, false
	},
}

const hotreplHandshake = `{"type":"handshake","protocolVersion":2,"host":{"name":"BepInEx","version":"0.x","platform":"Unity Mono"},"evaluator":{"name":"Mono.CSharp","languageVersion":"7.x","persistentState":true,"supportsCompletion":true,"cancellation":"hardAbort"},"availableEvaluators":["Mono.CSharp"],"defaultUsings":["System"],"helpers":[],"control":{"supported":true,"commandsListChanged":false,"schemaValidation":false},"limits":{"maxMessageBytes":4194304,"maxQueuedCommands":32,"maxResultLength":102400,"maxEnumerableElements":100,"defaultEvalTimeoutMs":10000,"maxJobConcurrency":1},"enforces":["maxMessageBytes"]}`

// hotreplHost is a HotRepl host with a job that the client polls twice.
var hotreplHost = &dialogue{
	prefix:   "hotrepl+",
	greeting: []string{hotreplHandshake},
	question: `{"type":"assembly_reload","message":"reload %d"}`,
	answer: func(p *peer, r request) ([]string, bool, bool) {
		say := func(format string) []string { return []string{strings.ReplaceAll(format, "ID", string(r.ID))} }
		switch r.Type {
		case "command_describe":
			return say(`{"type":"command_describe_result","id":ID,"descriptor":{"name":"archive.export","majorVersion":1,"kind":"job","mutatesState":true,"inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"artifactsSchema":{"type":"object"}}}`), false, false
		case "command_call":
			return say(`{"type":"job_accepted","id":ID,"jobId":"job-1","state":"running"}`), false, false
		case "job_status":
			if p.asked++; p.asked == 1 {
				return say(`{"type":"job_status_result","id":ID,"jobId":"job-1","state":"running","progress":{"stage":"pack","fraction":0.5}}`), false, false
			}
			return say(`{"type":"job_result","id":ID,"jobId":"job-1","state":"done","status":"ok","output":{"n":3},"artifacts":{},"durationMs":1}`), false, true
		case "job_cancel":
			return say(`{"type":"job_cancel_result","id":ID,"accepted":true,"state":"running"}`), false, false
		}
		return nil, false, false
	},
}
