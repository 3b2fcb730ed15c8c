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

// connections are the tapes of the single connections of a recorded tape.
func connections(t *testing.T, file string) (dialect string, header []byte, each [][]tape.Line) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := tape.NewReader(bytes.NewReader(text), file)
	if err != nil {
		t.Fatal(err)
	}
	for {
		line, err := r.Next()
		if err == io.EOF {
			return r.Header().Dialect, r.Header().Append(nil), each
		}
		if err != nil {
			t.Fatal(err)
		}
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

// parts are the pointers of all that is in val. member says that it is one of an object.
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

// other is another value, of the same type if it is a scalar.
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

// A taped is a conversation in testdata/dialects, which was recorded of a live one.
type taped struct {
	name  string
	holds []string // parts of its lines: what of the dialect is in it
	// The members that are not compared, by their pointers: what one side made up, times,
	// durations, versions.
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
		"mcp", // the Model Context Protocol's client, and its server of everything
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

// The server that is played from a tape and the client that is played from it say the same
// again, and each member that is another or is not there is named by its pointer, alone: in
// whichever direction, by comparing the tapes and by playing one against the other.
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
			t.Run("lines", func(t *testing.T) { // which have ended when it returns, side by side
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
			if named.Load() < 15 && !testkit.Race {
				t.Errorf("%d members alone were named", named.Load())
			}
		})
	}
}

// members changes each member of line i, and leaves each out; it returns how many were named, alone. Under the race detector,
// where each takes 15 times as long, it is one in 8: scripts/check runs this test without it as well.
func (r *taped) members(t *testing.T, header []byte, lines []tape.Line, i int) (named int) {
	whole, seen := text(header, lines), i
	parts(lines[i].Msg, "", func(pointer string, val []byte, member bool) {
		if seen++; testkit.Race && seen%8 != 0 {
			return
		}
		changed := slices.Clone(lines)
		changed[i].Msg = match.Replace(bytes.Clone(lines[i].Msg), []string{pointer}, other)
		named += r.change(t, whole, text(header, changed), i+2, pointer)
		if !member {
			return // what comes after it would be another element
		}
		changed[i].Msg = match.Patch(bytes.Clone(lines[i].Msg), []match.Difference{{Pointer: pointer, Want: val}})
		named += r.change(t, whole, text(header, changed), i+2, pointer)
	})
	return named
}

// change demands what it has to come to that pointer in line number is another in the tape changed.
// It returns 1 if that has to be named, alone.
func (r *taped) change(t *testing.T, whole, changed []byte, number int, pointer string) int {
	load := func(b []byte) *transcript.Transcript {
		tr, err := transcript.Read(bytes.NewReader(b), "x", shapes, rules)
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		return tr
	}
	a, b := load(whole), load(changed)
	entry, other := a.Tracks[0].Entry(int32(number-2)), b.Tracks[0].Entry(int32(number-2))
	compared := differences(t, a, b)
	var played []match.Difference
	synctest.Test(t, func(t *testing.T) { played = between(t, a, b, entry.Dir) })
	madeUp := slices.Contains(r.madeUp, pointer)
	if pointer == "/id" && entry.Kind == wire.Request && other.Kind == wire.Request {
		// It is made up: what is wrong is each answer, which has another.
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
		played = compared // who ends a stream by whatever unsubscribe has ended it
	}
	if a.Tracks[0].Repeated(int32(number - 2)) {
		played = compared // it is not played, as a later request is about the end of the job
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

// differences are those of two tapes.
func differences(t *testing.T, a, b *transcript.Transcript) []match.Difference {
	t.Helper()
	found, err := Diff(a, b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return told(found)
}

// between plays the server of one tape and the client of another, and returns what is said
// of the messages of direction d.
func between(t *testing.T, server, client *transcript.Transcript, d wire.Direction) []match.Difference {
	var there []match.Difference
	s, err := NewServer(server, Options{Found: func(f match.Difference) { there = append(there, f) }})
	if err != nil {
		t.Fatal(err)
	}
	a, b := transport.Pair()
	done := make(chan error, 1)
	go func() { done <- s.Serve(t.Context(), b) }()
	r, err := Client(t.Context(), client, 0, a, Options{})
	if err == nil {
		err = <-done
	}
	if err != nil {
		t.Fatal(err)
	}
	if d == wire.Send {
		return there
	}
	return told(r)
}
