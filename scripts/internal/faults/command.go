//go:build linux

package main

// A command is a command that is tested, with its peer. In its arguments, {E} is the endpoint, {dial} the connection flags, {time}
// the timeout flags, {listen} a listen address of the transport, {dir} the cell's directory and {rpcx} the program.
type command struct {
	name     string
	peer     *dialogue
	calls    int        // requests that the peer answers before the last one (by default 1)
	messages int        // messages that the peer (for serve, the client) sends in a conversation without a fault
	posts    int        // requests with an HTTP response of their own
	steps    [][]string // command lines, run one after the other
	stdin    string     // the stdin of the first command line
	want     string     // the whole stdout if the status is 0
	files    map[string]string
	// unexpected has the statuses for a message that answers no request, if other statuses are right than for most commands.
	unexpected []int
	// listens starts a process that listens. With own, its client has the fault. Otherwise its peer has the fault, and the steps
	// are correct clients.
	listens []string
	own     bool
	passes  bool // with own: {E} is a correct peer to which the process passes messages on
	tapes   bool // the command writes the tape {dir}/record.tape
	streams bool // the peer's response is followed by more messages
	stays   bool // a process outlives the fault, and its resources are checked
}

const tape = `{"tape":1,"dialect":"jsonrpc"}
{"t":0,"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"add","params":[1,2]}}
{"t":0.01,"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":3}}
`

// ticks has the lines of a stream on a tape.
const ticks = `{"dir":"send","msg":{"jsonrpc":"2.0","id":2,"method":"ticks"}}
{"dir":"recv","msg":{"jsonrpc":"2.0","id":2,"result":"s1"}}
{"dir":"recv","msg":{"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s1","result":1}}}
`

// terms are three calls in a batch, and sums are their responses.
const (
	terms = `{"method":"add","params":[1,2]}
{"method":"add","params":[3,4]}
{"method":"add","params":[5,6,{"password":"` + secretWord + `"}]}
`
	sums = `{"id":1,"result":3}
{"id":2,"result":7}
{"id":3,"result":11}
`
)

var commands = []*command{
	{name: "call", messages: 1, posts: 1, peer: adder, steps: [][]string{{"call", "{E}", "add", "1", "2", "{dial}", "{time}"}}, want: "3\n"},
	{
		name: "batch", tapes: true, messages: 3, posts: 3, peer: adder, calls: 3, steps: [][]string{{"call", "{E}", "--batch", "--record", "{dir}/record.tape", "{dial}", "{time}"}},
		stdin: terms, want: sums,
	},
	{name: "subscribe", streams: true, messages: 4, posts: 1, peer: counter, steps: [][]string{{"subscribe", "{E}", "count", "{dial}", "{time}"}}, want: "1\n2\n"},
	{
		name: "connect", messages: 1, posts: 1, peer: adder, steps: [][]string{{"connect", "{E}", "{dial}", "{time}"}},
		stdin: `{"id":1,"method":"add","params":[1,2]}` + "\n", want: `{"jsonrpc":"2.0","id":1,"result":3}` + "\n",
	},
	{name: "describe", messages: 1, posts: 1, peer: describer, steps: [][]string{{"describe", "{E}", "-q", ".methods[].name", "{dial}", "{time}"}}, want: `"add"` + "\n"},
	{name: "eval", messages: 2, posts: 2, peer: evaluator, steps: [][]string{{"eval", "{E}", "1 + 2", "{dial}", "{time}"}}, want: "3\n"},
	{name: "plugin", messages: 5, posts: 5, peer: pluginPeer, steps: [][]string{{"plugin", "call", "{E}", "greet", "Ada", "--shutdown-timeout", "300ms", "{dial}", "{time}"}}, want: `"Hello, Ada"` + "\n"},
	{name: "job", messages: 5, posts: 5, peer: hotreplHost, steps: [][]string{{"job", "run", "{E}", "archive.export", "-q", ".output", "{dial}", "{time}"}}, want: `{"n":3}` + "\n"},
	{
		name: "session", stays: true, messages: 1, posts: 1, peer: adder, want: "3\n", steps: [][]string{
			{"connect", "{E}", "--session", "faults", "{dial}", "{time}"},
			{"call", "@faults", "add", "1", "2", "{time}"},
			{"session", "close", "faults"},
		},
	},
	{
		name: "record", tapes: true, messages: 1, posts: 1, peer: adder, want: "3\n", steps: [][]string{{
			"record", "{listen}", "--to", "{E}", "-o", "{dir}/record.tape", "{dial}",
			"--", "{rpcx}", "call", "@", "add", "1", "2", "--max-message", maxMessage, "{time}",
		}},
	},
	{
		name: "replay", messages: 1, posts: 1, peer: adder, files: map[string]string{"played.tape": tape},
		steps: [][]string{{"replay", "{dir}/played.tape", "--to", "{E}", "--idle", "{timeout}", "{connect}", "{dial}"}},
	},
	{
		name: "record-server", tapes: true, messages: 3, posts: 3, peer: adder, calls: 3, want: sums, stays: true,
		listens: []string{"record", "{listen}", "--to", "{E}", "-o", "{dir}/record.tape", "{connect}", "{dial}"}, // the client may close first
		steps:   [][]string{{"call", "{at}", "--batch", "--jobs", "1", "--max-message", maxMessage, "{time}"}}, stdin: terms,
	},
	{name: "serve", messages: 3, own: true, listens: []string{
		"serve", "{listen}", "--on", "add=jq:.[0] + .[1]", "--on", "ticks=lines:while :; do echo 1; sleep 0.05; done", "{guard}",
	}},
	{name: "record-client", tapes: true, messages: 3, own: true, passes: true, listens: []string{"record", "{listen}", "--to", "{E}", "-o", "{dir}/record.tape", "{guard}"}},
	{name: "replay-client", messages: 3, own: true, listens: []string{"replay", "{dir}/played.tape", "--listen", "{listen}", "{guard}"}, files: map[string]string{"played.tape": tape + ticks}},
}
