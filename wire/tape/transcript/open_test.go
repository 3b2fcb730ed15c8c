package transcript

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"rpcx/wire"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/tape/match"
	"rpcx/wire/testkit"
)

func rules(string) (*match.Rules, error) { return match.NewRules(jsonrpc.Shape(jsonrpc.V2), nil), nil }

// A missing or unreadable tape is a fault that contains its name.
func TestUnreadableTapes(t *testing.T) {
	open := func(name, stdin string) error {
		tr, err := Open(name, iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(stdin))), rules)
		if err == nil {
			err = errors.Join(tr.Close(), errors.New("it was read"))
		}
		return err
	}
	empty := filepath.Join(t.TempDir(), "empty")
	testkit.OK(t, os.WriteFile(empty, nil, 0o600))
	for _, c := range []struct {
		name, stdin string
		kind        wire.FaultKind
		want        string
		only        string
	}{
		{"no.tape", "", wire.Usage, "cannot read the tape no.tape: no such file or directory", ""},
		{".", "", wire.Usage, "cannot read the tape .: it is a directory", ""},
		{empty, "", wire.Usage, "the tape " + empty + ", line 1: it is empty: not even a header", ""},
		{"/proc/self/mem", "", wire.Usage, "cannot read the tape /proc/self/mem: input/output error", "linux"},
		{"-", `{"tape":1}`, wire.IO, "reading a tape from stdin: timeout", ""},
	} {
		if c.only != "" && c.only != runtime.GOOS {
			continue
		}
		if f := wire.AsFault(open(c.name, c.stdin)); f == nil || f.Kind != c.kind || f.Message != c.want {
			t.Errorf("%s: %v, want %s", c.name, f, c.want)
		}
	}
}

// A tape that exceeds the memory limit is rejected for the same reasons as others.
func TestLongTapesThatAreBad(t *testing.T) {
	long := filepath.Join(t.TempDir(), "long")
	testkit.OK(t, os.WriteFile(long, []byte("garbage\n"), 0o600))
	testkit.OK(t, os.Truncate(long, keepWhole+1))
	file, err := os.Open(long)
	testkit.OK(t, err)
	defer file.Close()
	t.Setenv("TMPDIR", t.TempDir())
	for _, name := range []string{long, "-"} {
		tr, err := Open(name, file, rules)
		if f := wire.AsFault(err); tr != nil || f == nil || !strings.HasPrefix(f.Message, "the tape "+name+", line 1: no header") {
			t.Errorf("%v, %v", tr, err)
		}
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", "/none")
	t.Setenv("TMP", `N:\none`)
	if _, err := Open("-", file, rules); err == nil || !strings.HasPrefix(err.Error(), "storing the tape - in ") {
		t.Error(err)
	}
}

// Handwritten members that contradict each other are faults.
func TestHandwrittenMistakes(t *testing.T) {
	const request = `{"dir":"send","name":"a","msg":{"jsonrpc":"2.0","id":1,"method":"m"}}` + "\n"
	for lines, want := range map[string]string{
		`{"dir":"send","name":"a","msg":[{"id":1,"method":"m"}]}`: `line 2: a batch cannot have "match", "bind" or "name"`,
		`{"dir":"recv","re":"b","match":"."}`:                     `line 2: "re" is "b", but no earlier line of the other side has this name`,
		request + `{"dir":"send","re":"a","match":"."}`:           `line 3: "re" is "a", but no earlier line of the other side has this name`,
		request + request:                        `line 3: an earlier line already has the name "a"`,
		`{"dir":"recv","msg":{"x":1}}`:           `line 2: this is not a message of jsonrpc, the dialect in the header: it has no "method" and is not a response, which has "id" and`,
		`{"dir":"send","optional":true,"msg":1}`: `line 2: "optional" is for notifications of the server`,
	} {
		_, err := Read(strings.NewReader(`{"tape":1}`+"\n"+lines), "x", rules)
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Usage || !strings.HasPrefix(f.Message, "the tape x, "+want) {
			t.Errorf("%s: %v, want %s", lines, err, want)
		}
	}
}

// A tape that changes after it was indexed is a fault.
func TestChangedTapes(t *testing.T) {
	const text = `{"tape":1}` + "\n" + `{"dir":"send","msg":[{"id":1,"method":"m"},{"id":2,"method":"m"}]}` + "\n"
	name := filepath.Join(t.TempDir(), "x.tape")
	for now, want := range map[string]string{
		strings.Replace(text, `,{"id":2,"method":"m"}`, "                      ", 1): "line 2: it changed while it was being read: it has fewer messages",
		strings.Replace(text, "[", "]", 1):                                           "line 2: it changed while it was being read: not a JSON object",
		"":                                                                           "line 2: it changed while it was being read: not a JSON object",
	} {
		testkit.OK(t, os.WriteFile(name, []byte(text), 0o600))
		f, err := os.Open(name)
		testkit.OK(t, err)
		tr, err := Read(f, "x", rules)
		testkit.OK(t, err)
		testkit.OK(t, os.WriteFile(name, []byte(now), 0o600))
		if _, err := tr.Tracks[0].Message(1); err == nil || !strings.HasPrefix(err.Error(), "the tape x, "+want) {
			t.Errorf("%v, want %s", err, want)
		}
		_ = f.Close()
		if _, err := tr.Tracks[0].Message(1); err == nil || !strings.HasPrefix(err.Error(), "reading the tape x: ") {
			t.Error(err)
		}
	}
}

// The transport itself repeats a request for an event stream that follows a rejected request.
func TestEventStreamOfOlderHTTP(t *testing.T) {
	for status, want := range map[string]int32{"200": 1, "404": None} {
		tr, err := Read(strings.NewReader(`{"tape":1}
{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"m"}}
{"http":{"method":"POST","url":"http://h/sse","status":`+status+`,"times":{"start":0}}}
{"http":{"method":"GET","url":"http://h/sse","status":200,"times":{"start":0}}}
{"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":1}}
`), "x", rules)
		testkit.OK(t, err)
		testkit.Expect(t, "the request for events after status "+status, tr.Tracks[0].Events, want)
	}
}
