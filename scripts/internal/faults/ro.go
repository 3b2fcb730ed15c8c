//go:build linux

package main

import "fmt"

func init() {
	commands = append(commands, &command{
		name: "ro-job", streams: true, messages: 3, posts: 1, peer: worker, steps: [][]string{{"job", "run", "{E}", "archive:export", "-q", ".n", "{dial}", "{time}"}}, want: "3\n",
		unexpected: []int{1, 5, 7, 8, 124}, // messages in an event stream belong to the job, and -q prints none of these
	})
}

// worker is an RO-JRPC server with a job whose results arrive without polling.
var worker = &dialogue{
	prefix: "ro+", question: rpcQuestion,
	answer: func(_ *peer, r request) ([]string, bool, bool) {
		if r.Method != "archive.export" {
			return noSuch(r), false, false
		}
		return append(result(r.ID, `{"status":"accepted","job":"job-1"}`),
			fmt.Sprintf(`{"jsonrpc":"2.0","method":"job.yield","resource":"job","verb":"yield","target":"job-1","result":{"status":"pending","progress":60,"stage":"pack"},"request_id":%s}`, r.ID),
			fmt.Sprintf(`{"jsonrpc":"2.0","method":"job.return","resource":"job","verb":"return","target":"job-1","result":{"status":"done","n":3},"request_id":%s}`, r.ID)), false, true
	},
}
