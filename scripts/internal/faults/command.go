//go:build linux

package main

// A command is what is run, with its peer. In its words {E} is the endpoint,
// {dial} the flags of connecting, {time} those of time, {listen} an address of
// the transport to listen on, {dir} the cell's folder, {rpcx} the program.
type command struct {
	name  string
	peer  *dialogue
	calls int        // requests that the peer answers before the last; 0: one
	says  int        // messages of the peer (of serve's client) in a conversation without a fault
	posts int        // requests that each has an HTTP response
	steps [][]string // command lines, run one after the other
	stdin string     // of the first
	want  string     // all of stdout, where the status is 0
	files map[string]string
	own   bool // another part of the program runs it: serve, whose client is at fault
}

const tape = `{"tape":1,"dialect":"jsonrpc"}
{"t":0,"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"add","params":[1,2]}}
{"t":0.01,"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":3}}
`

var commands = []*command{
	{name: "call", says: 1, posts: 1, peer: adds, steps: [][]string{{"call", "{E}", "add", "1", "2", "{dial}", "{time}"}}, want: "3\n"},
	{
		name: "batch", says: 3, posts: 3, peer: adds, calls: 3, steps: [][]string{{"call", "{E}", "--batch", "{dial}", "{time}"}},
		stdin: `{"method":"add","params":[1,2]}` + "\n" + `{"method":"add","params":[3,4]}` + "\n" + `{"method":"add","params":[5,6]}` + "\n",
		want:  `{"id":1,"result":3}` + "\n" + `{"id":2,"result":7}` + "\n" + `{"id":3,"result":11}` + "\n",
	},
	{name: "subscribe", says: 4, posts: 1, peer: counts, steps: [][]string{{"subscribe", "{E}", "count", "{dial}", "{time}"}}, want: "1\n2\n"},
	{
		name: "connect", says: 1, posts: 1, peer: adds, steps: [][]string{{"connect", "{E}", "{dial}", "{time}"}},
		stdin: `{"id":1,"method":"add","params":[1,2]}` + "\n", want: `{"jsonrpc":"2.0","id":1,"result":3}` + "\n",
	},
	{name: "describe", says: 1, posts: 1, peer: describes, steps: [][]string{{"describe", "{E}", "-q", ".methods[].name", "{dial}", "{time}"}}, want: `"add"` + "\n"},
	{name: "eval", says: 2, posts: 2, peer: evaluates, steps: [][]string{{"eval", "{E}", "1 + 2", "{dial}", "{time}"}}, want: "3\n"},
	{name: "plugin", says: 5, posts: 5, peer: plugs, steps: [][]string{{"plugin", "call", "{E}", "greet", "Ada", "--shutdown-timeout", "300ms", "{dial}", "{time}"}}, want: `"Hello, Ada"` + "\n"},
	{name: "job", says: 5, posts: 5, peer: hosts, steps: [][]string{{"job", "run", "{E}", "archive.export", "-q", ".output", "{dial}", "{time}"}}, want: `{"n":3}` + "\n"},
	{name: "ro-job", says: 3, posts: 1, peer: works, steps: [][]string{{"job", "run", "{E}", "archive:export", "-q", ".n", "{dial}", "{time}"}}, want: "3\n"},
	{
		name: "session", says: 1, posts: 1, peer: adds, want: "3\n", steps: [][]string{
			{"connect", "{E}", "--session", "faults", "{dial}", "{time}"},
			{"call", "@faults", "add", "1", "2", "{time}"},
			{"session", "close", "faults"},
		},
	},
	{
		name: "record", says: 1, posts: 1, peer: adds, want: "3\n", steps: [][]string{{
			"record", "{listen}", "--to", "{E}", "-o", "{dir}/record.tape", "{dial}",
			"--", "{rpcx}", "call", "@", "add", "1", "2", "{time}",
		}},
	},
	{
		name: "replay", says: 1, posts: 1, peer: adds, files: map[string]string{"played.tape": tape},
		steps: [][]string{{"replay", "{dir}/played.tape", "--to", "{E}", "--idle", "{timeout}", "--connect-timeout", "{timeout}", "{dial}"}},
	},
	{name: "serve", says: 3, own: true},
}
