package player

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// connections splits a tape into one tape for each connection.
func connections(t *testing.T, file string) (dialect string, header []byte, each [][]tape.Line) {
	t.Helper()
	text, err := os.ReadFile(file)
	testkit.OK(t, err)
	r, err := tape.NewReader(bytes.NewReader(text), file)
	testkit.OK(t, err)
	for {
		line, err := r.Next()
		if err == io.EOF {
			return r.Header().Dialect, r.Header().Append(nil), each
		}
		testkit.OK(t, err)
		if line.Kind != tape.Message {
			continue
		}
		for len(each) < max(line.Conn, 1) {
			each = append(each, nil)
		}
		own := *line
		own.Msg = bytes.Clone(line.Msg)
		own.Conn = 0
		n := max(line.Conn, 1) - 1
		each[n] = append(each[n], own)
	}
}

func text(header []byte, lines []tape.Line) []byte {
	b := bytes.Clone(header)
	for i := range lines {
		b = lines[i].Append(b)
	}
	return b
}

// parts calls see for each value in val, with its pointer. member reports whether the value is a member of an object.
func parts(val []byte, at string, see func(pointer string, val []byte, member bool)) {
	kind := scan.Type(val)
	if kind != 'o' && kind != 'a' {
		return
	}
	_, _ = scan.Rebuild(nil, val, wire.DefaultMaxDepth, func(b []byte, i int, key, part []byte) ([]byte, error) {
		pointer := scan.Descend(at, i, key)
		see(pointer, part, kind == 'o')
		parts(part, pointer, see)
		return b, nil
	})
}

// other returns a different value, of the same type if val is a scalar.
func other(val []byte) []byte {
	switch scan.Type(val) {
	case 's':
		return append(val[:len(val)-1:len(val)-1], `-other"`...)
	case 'n':
		if val[0] == '-' {
			return append([]byte("-9"), val[1:]...)
		}
		return append([]byte{'9'}, val...)
	case 't':
		return []byte("false")
	case 'o', 'a':
		return []byte(`"other"`)
	}
	return []byte("true")
}

// taped is a conversation in testdata/dialects that was recorded from real programs.
type taped struct {
	name  string
	holds []string // texts on the tape from different parts of the dialect
	// madeUp has the pointers of members that are not compared: generated values, times, durations and versions.
	madeUp []string
}

var recorded = []taped{
	{
		"geth", // go-ethereum's client and server
		[]string{`"result":{"number":2}`, `"method":"orders_unsubscribe"`, `"error":{"code":4711`},
		[]string{"/params/subscription", "/result", "/params/0"},
	},
	{
		"vscode", // vscode-jsonrpc's client
		[]string{`"done":true`, `"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"method":"whoami"`, `"error":{"code":-32601`, `"method":"note"`},
		[]string{"/params/subscription", "/result"},
	},
	{
		"inspector", // Node's inspector
		[]string{`"method":"Runtime.consoleAPICalled"`, `"error":{"code":-32601`},
		[]string{"/params/timestamp"},
	},
	{
		"mcp", // MCP's client and its "everything" server
		[]string{`"progress":3`, `"dir":"recv","msg":{"method":"sampling/createMessage"`, `"isError":true`},
		[]string{"/params/progressToken", "/params/_meta/progressToken", "/params/arguments/duration", "/result/serverInfo", "/result/serverInfo/name", "/result/serverInfo/title", "/result/serverInfo/version", "/params/clientInfo", "/params/clientInfo/name", "/params/clientInfo/version"},
	},
	{
		"scomp",
		[]string{`"do":{"$fn":"f1"}`, `"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"name":"notify"`, `"kind":"EvalError"`},
		[]string{"/params/ref", "/params/input/do/$fn", "/result/sessionId", "/result/metadata/server/version", "/params/metadata/client", "/params/metadata/client/name", "/params/metadata/client/version"},
	},
	{
		"introspect",
		[]string{`"type":"data","provenance":["ticker"]`, `"method":"service_unsubscribe"`, `"type":"guidance"`, `"type":"error"`},
		[]string{"/params/subscription", "/result", "/params", "/params/0", "/params/result/service_hash", "/params/result/data/hash"},
	},
	{
		"ro",
		[]string{`"method":"session.yield"`, `"method":"job.return"`, `"status":"accepted"`, `"error":{"code":404`},
		[]string{"/request_id", "/target"},
	},
	{
		"hotrepl",
		[]string{`"seq":2`, `"type":"job_accepted"`, `"type":"job_result"`, `"type":"eval_error"`},
		[]string{"/jobId", "/durationMs", "/host/version", "/artifacts/items.json/path", "/artifacts/items.json/uri"},
	},
	{
		"scriptling",
		[]string{`"class":"Config","id":"1"`, `"method":"callback.call"`, `"method":"host.log"`, `"error":{"code":-32000`},
		[]string{"/params/id", "/result/id", "/params/args/1/callback/id", "/params/host", "/params/host_version"},
	},
}

// TestDialects checks that the played server and the played client repeat the conversation. Each changed or missing member must be
// reported by its pointer, and nothing else, for both sides, both when tapes are compared and when they are played.
func TestDialects(t *testing.T) {
	for _, r := range recorded {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			dialect, header, each := connections(t, filepath.Join("testdata", "dialects", r.name+".tape"))
			if _, ok := all.Find(dialect); !ok {
				t.Skip("there is no dialect " + dialect)
			}
			var heard []byte
			var named atomic.Int64
			t.Run("lines", func(t *testing.T) { // returns when all lines have been tested
				for n, lines := range each {
					whole := text(header, lines)
					heard = append(heard, whole...)
					synctest.Test(t, func(t *testing.T) { playBoth(t, uint64(n), whole) })
					for i := range lines {
						t.Run(fmt.Sprintf("%d-%d", n, i+2), func(t *testing.T) {
							t.Parallel()
							named.Add(int64(r.members(t, header, lines, i)))
						})
					}
				}
			})
			for _, part := range r.holds {
				if !bytes.Contains(heard, []byte(part)) {
					t.Errorf("no line has %s", part)
				}
			}
			if named.Load() < 15 && !testkit.Samples() {
				t.Errorf("%d members alone were named", named.Load())
			}
		})
	}
}

// members changes and removes each member in line i, and returns the number of changes that must be reported. The
// race detector makes this 15 times as slow.
func (r *taped) members(t *testing.T, header []byte, lines []tape.Line, i int) (named int) {
	whole, seen := text(header, lines), i
	parts(lines[i].Msg, "", func(pointer string, val []byte, member bool) {
		if seen++; !testkit.Sampled(seen) {
			return
		}
		changed := slices.Clone(lines)
		changed[i].Msg = match.Replace(bytes.Clone(lines[i].Msg), []string{pointer}, other)
		named += r.change(t, whole, text(header, changed), i+2, pointer)
		if !member {
			return // later elements would get another index
		}
		changed[i].Msg = match.Patch(bytes.Clone(lines[i].Msg), []match.Difference{{Pointer: pointer, Want: val}})
		named += r.change(t, whole, text(header, changed), i+2, pointer)
	})
	return named
}

// change checks the differences after a change to the member at pointer, in line number. It returns 1 if the change must be
// reported, and 0 otherwise.
func (r *taped) change(t *testing.T, whole, changed []byte, number int, pointer string) int {
	a, b := load(t, whole), load(t, changed)
	entry, other := a.Tracks[0].Entry(int32(number-2)), b.Tracks[0].Entry(int32(number-2))
	compared := differences(t, a, b)
	var played []match.Difference
	synctest.Test(t, func(t *testing.T) {
		server, client := between(t, a, b)
		if played = server; entry.Dir == wire.Recv {
			played = client
		}
	})
	madeUp := slices.Contains(r.madeUp, pointer)
	if pointer == "/id" && entry.Kind == wire.Request && other.Kind == wire.Request {
		// An id is generated, so only the responses, which now have another id, are reported.
		answer := entry.Answer
		for ; answer != transcript.None && len(compared) > 0; compared = compared[1:] {
			e := a.Tracks[0].Entry(answer)
			if f := compared[0]; f.Pointer != pointer || f.Line != int(e.Line) {
				break
			}
			answer = e.More
		}
		if answer != transcript.None || len(compared)+len(played) > 0 {
			t.Errorf("line %d, %s:\n%s%s", number, pointer, texts(compared), texts(played))
		}
		return 0
	}
	if msg, _ := a.Tracks[0].Message(number - 2); pointer == "/method" && bytes.Contains(msg, []byte("nsubscribe")) && len(played) == 0 {
		played = compared // playing accepts any unsubscribe
	}
	if a.Tracks[0].Repeated(int32(number - 2)) {
		played = compared // not played, because a later request waits for the end of the job
	}
	for _, found := range [][]match.Difference{compared, played} {
		alone := len(found) == 1 && found[0].Pointer == pointer && found[0].Line == number
		if !alone && !(madeUp && len(found) == 0) {
			t.Errorf("line %d, %s:\n%s", number, pointer, texts(found))
		}
	}
	if madeUp {
		return 0
	}
	return 1
}

// differences returns the differences between two tapes.
func differences(t *testing.T, a, b *transcript.Transcript) []match.Difference {
	t.Helper()
	found, err := Diff(a, b, Options{})
	testkit.OK(t, err)
	return told(found)
}

// between plays the server of one tape against the client of another, whose connection wrap may change. It returns the differences
// that each side has found.
func between(t *testing.T, server, client *transcript.Transcript, wrap ...func(wire.Conn) wire.Conn) (there, here []match.Difference) {
	s, err := NewServer(server, Options{Found: func(f match.Difference) { there = append(there, f) }})
	testkit.OK(t, err)
	a, b := transport.Pair()
	for _, wrap := range wrap {
		a = wrap(a)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(t.Context(), b) }()
	r, err := Client(t.Context(), client, 0, a, Options{})
	if err == nil {
		err = <-done
	}
	testkit.OK(t, err)
	return there, told(r)
}
