package recorder

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/jq"
	"rpcx/wire/redact"
	"rpcx/wire/tape"
	"rpcx/wire/testkit"
)

var item = []byte(`{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x9ce5","result":{"number":"0x1b4","hash":"0x8216c5785ac562ff41e2dcfdf5785ac5","gas":[1,2,3]}}}`)

// Recording a message allocates nothing.
func TestNoAllocation(t *testing.T) {
	r, err := Open(Options{File: filepath.Join(t.TempDir(), "x.tape")})
	testkit.OK(t, err)
	defer r.Close()
	c := r.Conn(tape.Open{}, false)
	for range 5000 {
		c.Message(wire.Recv, item)
	}
	testkit.Expect(t, "allocations a message", testing.AllocsPerRun(5000, func() { c.Message(wire.Recv, item) }), 0)
}

func TestRedaction(t *testing.T) {
	compile := func(src string) *jq.Paths {
		p, err := jq.CompilePaths(src)
		testkit.OK(t, err)
		return p
	}
	tests := []struct {
		paths    []*jq.Paths
		in, want string
	}{
		{nil, `{"password":"x","n":1.10}`, `{"password":"…1","n":1.10}`},
		{nil, `{"a":[{"API_KEY":{"x":1,"y":["z"]}}]}`, `{"a":[{"API_KEY":{"x":1,"y":["…1"]}}]}`},
		{nil, `{"h":"Bearer abc"}`, `{"h":"…1"}`},
		{nil, `{"h":"Authorization: Basic YTpi"}`, `{"h":"…1"}`},
		{nil, `{"h":"bearers of news","i":"the bearer said"}`, `{"h":"bearers of news","i":"the bearer said"}`},
		{nil, `{"pass\u0077ord":"x"}`, `{"pass\u0077ord":"…1"}`},
		{nil, `{"a":1,"a":[{"":0}],"token":"x"`, `{"a":1,"a":[{"":0}],"token":"…"`},
		{nil, `{"progressToken":"x"}`, `{"progressToken":"x"}`},
		{nil, `Authorization: "Bearer abc"`, `Authorization: …`},
		{[]*jq.Paths{compile(".params.card")}, `{"params":{"card":"4111","x": 1}}`, `{"params":{"card":"…1","x":1}}`},
		{[]*jq.Paths{compile(".params.card")}, `{"params":[]}`, `"…"`},
		{[]*jq.Paths{compile(".params.card?"), compile(".. | .pin?")}, `{"params":[{"pin":1}]}`, `{"params":[{"pin":"…1"}]}`},
	}
	for _, tt := range tests {
		var warned []string
		r := newRedactor(tt.paths, func(text string) { warned = append(warned, text) }, &redact.Numbering{})
		for range 2 {
			if got, _ := r.append(nil, []byte(tt.in)); string(got) != tt.want {
				t.Errorf("%s: %s, want %s", tt.in, got, tt.want)
			}
		}
		if (tt.want == `"…"`) != (len(warned) == 1) {
			t.Errorf("%s: warned %q", tt.in, warned)
		}
	}
}

// The redaction of a message does not depend on earlier messages with the same members or values.
func TestRedactionOfMessagesThatAreAlike(t *testing.T) {
	r := newRedactor(nil, nil, &redact.Numbering{})
	for _, c := range [][2]string{
		{`{"id":1,"user":"a","word":"b"}`, `{"id":1,"user":"a","word":"b"}`},
		{`{"id":1,"user":"a","word":"Bearer b"}`, `{"id":1,"user":"a","word":"…1"}`},
		{`{"id":1,"user":"a","password":"b"}`, `{"id":1,"user":"a","password":"…2"}`},
		{`{"id":1,"user":"a","password":"c"}`, `{"id":1,"user":"a","password":"…3"}`},
		{`{"id":1,"user":"a","password":{"d":1}}`, `{"id":1,"user":"a","password":{"d":1}}`},
		{`{"id":1,"user":{"token":"t"},"word":"b"}`, `{"id":1,"user":{"token":"…4"},"word":"b"}`},
		{`{"id":1,"user":["password"],"word":"b"}`, `{"id":1,"user":["password"],"word":"b"}`},
		{`{"id":1,"user":"a","word":"b"}`, `{"id":1,"user":"a","word":"b"}`},
		{`{"id":1,"user":"a","token":"b"`, `{"id":1,"user":"a","token":"…"`},
		{`{"id":1,"user":"a","tok\u0065n":"b"}`, `{"id":1,"user":"a","tok\u0065n":"…2"}`},
	} {
		for range 2 {
			if got, _ := r.append(nil, []byte(c[0])); string(got) != c[1] {
				t.Errorf("%s: %s, want %s", c[0], got, c[1])
			}
		}
	}
}

func TestSplit(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(Options{File: filepath.Join(dir, "x.tape"), Split: true})
	testkit.OK(t, err)
	for range 2 {
		r.Conn(tape.Open{}, true).Message(wire.Send, []byte("1"))
	}
	testkit.OK(t, r.Close())
	for _, name := range []string{"x-1.tape", "x-2.tape"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.HasSuffix(b, []byte(`"dir":"recv","msg":1}`+"\n")) || strings.Contains(string(b), `"conn"`) {
			t.Errorf("%s: %s %v", name, b, err)
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	r, err := Open(Options{File: filepath.Join(b.TempDir(), "x.tape")})
	testkit.OK(b, err)
	defer r.Close()
	c := r.Conn(tape.Open{}, false)
	b.ReportAllocs()
	for b.Loop() {
		c.Message(wire.Recv, item)
	}
}

// A recording continues or replaces an existing tape, or fails. want is the reason, or the connection and the time, in minutes, of what
// is appended.
func TestExistingTapes(t *testing.T) {
	const header, message = `{"tape":1}` + "\n", `{"t":60,"conn":3,"dir":"send","msg":1}`
	started := `{"tape":1,"started":"` + time.Now().Add(-time.Hour).Format(time.RFC3339) + `"}` + "\n"
	for _, c := range []struct {
		what      Existing
		was, want string
	}{
		{Refuse, header + `{"t":60,"note":"no message"}`, "0, 0"},
		{Refuse, header + message, "the tape x.tape exists"},
		{Refuse, header + `{"t":60,"dir":"se`, "the tape x.tape exists"},
		{Refuse, header + "garbage\n", "the tape x.tape exists"},
		{Refuse, "garbage\n", "the tape x.tape exists"},
		{Replace, "garbage\n", "0, 0"},
		{Append, "", "0, 0"},
		{Append, header, "0, 0"},
		{Append, header + message, "4, 1"},
		{Append, header + `{"t":60,"dir":"send","msg":1}` + "\n", "2, 1"},
		{Append, started + message + "\n", "4, 60"},
		{Append, header + `{"t":60,"dir":"se`, "the tape x.tape, line 2: the tape ends in the middle of this line"},
		{Append, header + "garbage\n", "the tape x.tape, line 2: not a JSON object"},
		{Append, "garbage\n", "the tape x.tape, line 1: no header"},
	} {
		t.Chdir(t.TempDir())
		testkit.OK(t, os.WriteFile("x.tape", []byte(c.was), 0o600))
		r, err := Open(Options{File: "x.tape", Exists: c.what})
		got := fmt.Sprint(err)
		if err == nil {
			r.Conn(tape.Open{}, false)
			testkit.OK(t, r.Close())
			f, _ := os.Open("x.tape")
			lines, err := tape.NewReader(f, "x.tape")
			var last tape.Line
			for err == nil {
				var line *tape.Line
				if line, err = lines.Next(); err == nil {
					last = *line
				}
			}
			if f.Close(); err != io.EOF || last.Kind != tape.Opening {
				t.Errorf("%q ends with %+v, %v", c.was, last, err)
			}
			got = fmt.Sprintf("%d, %.0f", last.Conn, last.Time.Minutes())
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%d, %q: %s, want %s", c.what, c.was, got, c.want)
		}
	}
}

// The first failure is reported at once, and Close returns all.
func TestFailures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "removed")
	var failed []error
	r, err := Open(Options{File: filepath.Join(dir, "x.tape"), Split: true, Failed: func(err error) { failed = append(failed, err) }})
	testkit.OK(t, err)
	for range 2 {
		r.Conn(tape.Open{}, true).Message(wire.Send, []byte("1"))
	}
	testkit.OK(t, os.Mkdir(dir, 0o700))
	r.Conn(tape.Open{}, true)
	r.files[0].Close()
	err = r.Close()
	if len(failed) != 1 || err == nil || strings.Count(err.Error(), "x-1.tape cannot be written: no such file")+strings.Count(err.Error(), "x-2.tape cannot be written: no such file") != 2 ||
		!strings.Contains(err.Error(), "the tape cannot be written: close ") {
		t.Errorf("reported %v; closed with %v", failed, err)
	}
}
