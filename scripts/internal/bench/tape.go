package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// tapeNote stands below the table.
const tapeNote = `
record between two peers: a proxy costs a read and a write for whatever has come, which is a message where peers write
each by itself. 64 KiB at a time that is little for each message, and no program can write a tape for as much: what the
system takes for the file is several times the copy, as the row of a copy to a file shows. What record adds to
that is to check each message, to look for secrets in it and to make its line.
`

// tapes compares recording with not recording, record with programs that copy bytes,
// and a call of a tape with one of an embedded server. What stands between two peers
// reads what one has written and writes it for the other to read: mostly a message at a
// time. Where hundreds come at once a copy costs next to nothing for each, and most of
// what record does more is to write the tape: so it is compared, too, with a copy that
// writes what passes to a file.
func tapes(t *table, bin func(string) string, dir string, far *far, size sizes) error {
	n, rpcx := fmt.Sprint(size.stream), bin("rpcx")
	tape := filepath.Join(dir, "stream.tape")
	subscribe := []string{rpcx, "subscribe", far.ws, "ticks", "[" + n + "]", "--count", n}
	err := t.measure(size.streams, usPer("message", size.stream),
		program{"subscribe --record over ws", job{args: append(subscribe[:len(subscribe):len(subscribe)], "--record", tape)}},
		program{"subscribe", job{args: subscribe}})
	if err != nil {
		return err
	}
	for _, stream := range []struct{ method, how string }{{"each", "each written by itself"}, {"ticks", "64 KiB at a time"}} {
		request := filepath.Join(dir, stream.method)
		if err := os.WriteFile(request, []byte(`{"jsonrpc":"2.0","id":1,"method":"`+stream.method+`","params":[`+n+`]}`+"\n"), 0o600); err != nil {
			return err
		}
		between := func(args ...string) job { return job{stdin: request, read: true, args: args} }
		err = t.measure(size.streams, usPer("message", size.stream),
			program{"record between two peers, messages " + stream.how, between(rpcx, "record", "stdio:", "--to", far.unix, "-o", tape)},
			program{"a program that copies the bytes", between(bin("raw"), "copy", far.unix)},
			program{"one that writes them to a file, too", between(bin("raw"), "copy", far.unix, tape)})
		if err != nil {
			return err
		}
	}
	err = t.measure(size.bulkRuns, usPer("call", size.bulk),
		program{"record, one call after the other", job{calls: size.bulk, args: []string{rpcx, "record", "stdio:", "--to", far.unix, "-o", tape}}},
		program{"a program that copies the bytes", job{calls: size.bulk, args: []string{bin("raw"), "copy", far.unix}}})
	if err != nil {
		return err
	}
	call := func(endpoint string) []string { return []string{rpcx, "call", endpoint, "getOrder", "id=o_001"} }
	order := filepath.Join(dir, "order.tape")
	if out, err := exec.Command(rpcx, append(call("demo:orders")[1:], "--record", order)...).CombinedOutput(); err != nil {
		return fmt.Errorf("recording a call: %w: %s", err, out)
	}
	return t.measure(size.calls, msPerRun,
		program{"one call of tape:", job{args: call("tape:" + order)}},
		program{"the same of demo:", job{args: call("demo:orders")}})
}
