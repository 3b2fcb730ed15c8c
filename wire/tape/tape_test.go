package tape

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

const header = `{"tape":1,"endpoint":"demo:orders","dialect":"jsonrpc","started":"2026-01-31T12:00:00Z","rpcx":"0.9"}` + "\n"

// readAll reads a tape to its end.
func readAll(t *testing.T, text string) (lines []Line, err error) {
	t.Helper()
	r, err := NewReader(strings.NewReader(text), "x.tape")
	if err != nil {
		return nil, err
	}
	for {
		l, err := r.Next()
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		c := *l
		c.Msg = bytes.Clone(l.Msg)
		lines = append(lines, c)
	}
}

func TestHeader(t *testing.T) {
	r, err := NewReader(strings.NewReader("\n"+header), "x.tape")
	testkit.OK(t, err)
	want := Header{Endpoint: "demo:orders", Dialect: "jsonrpc", Program: "0.9", Started: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}
	testkit.Expect(t, "the header", r.Header(), want)
	testkit.Expect(t, "written", string(want.Append(nil)), header)
}

// Each text is a line in the form that Append writes.
func TestLines(t *testing.T) {
	tests := []struct {
		text string
		want Line
	}{
		{`{"t":0.0132,"dir":"send","msg":{"id":1}}`, Line{Time: 13200 * time.Microsecond, Msg: json.RawMessage(`{"id":1}`)}},
		{`{"t":2,"conn":3,"dir":"recv","msg":[]}`, Line{Time: 2 * time.Second, Conn: 3, Dir: wire.Recv, Msg: json.RawMessage(`[]`)}},
		{`{"t":0,"dir":"recv","text":"no \"JSON\"\n"}`, Line{Dir: wire.Recv, Bytes: []byte("no \"JSON\"\n")}},
		{`{"t":0,"dir":"recv","text":""}`, Line{Dir: wire.Recv, Bytes: []byte{}}},
		{`{"t":0,"dir":"recv","base64":"/wA="}`, Line{Dir: wire.Recv, Bytes: []byte{255, 0}}},
		{
			`{"t":0,"dir":"recv","name":"a","re":"b","match":".x > 1","bind":{"k":".k","z":".z"}}`,
			Line{Dir: wire.Recv, Name: "a", Re: "b", Match: ".x > 1", Bind: []Binding{{"k", ".k"}, {"z", ".z"}}},
		},
		{`{"t":0,"dir":"send","note":"hi","vars":true,"msg":"${k}"}`, Line{Note: "hi", Vars: true, Msg: json.RawMessage(`"${k}"`)}},
		{`{"t":3153600000,"note":"a hundred years"}`, Line{Kind: Note, Time: 3153600000 * time.Second, Note: "a hundred years"}},
		{`{"t":1,"note":"hi"}`, Line{Kind: Note, Time: time.Second, Note: "hi"}},
		{`{"t":1,"open":{"endpoint":"ws://x/"}}`, Line{Kind: Opening, Time: time.Second, Open: &Open{Endpoint: "ws://x/"}}},
		{
			`{"t":1,"dir":"recv","close":{"code":1001,"reason":"<bye>","clean":true}}`,
			Line{Kind: Closing, Time: time.Second, Dir: wire.Recv, Close: &Close{Code: 1001, Reason: "<bye>", Clean: true}},
		},
		{
			`{"t":1,"http":{"method":"POST","url":"http://x/","request":[["A","b"]],"status":200,"times":{"start":0.5,"wait":0.25}}}`,
			Line{Kind: Exchange, Time: time.Second, HTTP: &HTTP{Method: "POST", URL: "http://x/", Request: [][2]string{{"A", "b"}}, Status: 200, Times: Times{Start: .5, Wait: .25}}},
		},
	}
	for _, tt := range tests {
		testkit.Expect(t, tt.text, string(tt.want.Append(nil)), tt.text+"\n")
		lines, err := readAll(t, header+tt.text+"\n")
		tt.want.Number = 2
		if err != nil || len(lines) != 1 || !reflect.DeepEqual(lines[0], tt.want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", tt.text, err, lines, tt.want)
		}
	}
}

// A line without a time has the time of the previous line. Blank lines and unknown members are allowed.
func TestRawMessagesOfTheUser(t *testing.T) {
	lines, err := readAll(t, `{"tape":1}`+"\n\n"+`{"t":1.5,"dir":"send","msg":1}`+"\r\n"+` {"dir":"recv","conn":0,"msg":2,"seen":{"by":"me"}}`)
	if err != nil || len(lines) != 2 || lines[1].Conn != 0 || lines[1].Time != 1500*time.Millisecond || lines[1].Number != 4 {
		t.Errorf("%+v, %v", lines, err)
	}
}

func TestBadTapes(t *testing.T) {
	ok := `{"t":0,"dir":"send","msg":1}` + "\n"
	tests := []struct{ tape, want string }{
		{``, `line 1: it is empty: not even a header`},
		{"\n\n", `line 2: it is empty`},
		{ok, `line 1: no header: a tape begins with a line such as {"tape":1,"dialect":"jsonrpc"}`},
		{`garbage`, `line 1: no header`},
		{`{"tape":2}`, `line 1: tape version 2 is not supported; use 1`},
		{`{"tape":1`, `line 1: the header is not JSON: unexpected end of JSON at byte 9`},
		{`{"tape":1,"dialect":7}`, `line 1: the header's "dialect" is not a string`},
		{`{"tape":1,"started":7}`, `line 1: the header's "started" is not a string`},
		{`{"tape":1,"started":"now"}`, `line 1: the header's "started" is not a time`},
		{header + ok + "garbage\n" + ok, `line 3: not a JSON object: expected an object at byte 0`},
		{header + `{"dir":"send","msg":{]}` + "\n", `line 2: not a JSON object: expected a key in double quotes at byte 21`},
		{header + header, `line 2: a second header: tapes cannot be joined`},
		{header + `{"msg":1}`, `line 2: "dir" is missing: "send" or "recv"`},
		{header + `{"dir":"out","msg":1}`, `line 2: "dir" is neither "send" nor "recv"`},
		{header + `{"t":"1","dir":"recv","msg":1}`, `line 2: "t" is not a number of seconds`},
		{header + `{"t":-1,"dir":"recv","msg":1}`, `line 2: "t" is not a number of seconds`},
		{header + `{"t":3153600000.000001,"dir":"recv","msg":1}`, `line 2: "t" is not a number of seconds`},
		{header + `{"conn":-1,"dir":"recv","msg":1}`, `line 2: "conn" is not a connection number`},
		{header + `{"conn":"a","dir":"recv","msg":1}`, `line 2: "conn" is not a connection number`},
		{header + `{"dir":"recv","base64":"?"}`, `line 2: "base64" is not valid base64`},
		{header + `{"dir":"recv","text":{}}`, `line 2: "text" is not a string`},
		{header + `{"dir":"recv","msg":1,"text":"1"}`, `line 2: a line cannot have both "msg"`},
		{header + `{"dir":"recv","msg":1,"open":{}}`, `line 2: a line can have only one of`},
		{header + `{"open":{"endpoint":1}}`, `line 2: "open": its "endpoint" has the wrong type`},
		{header + `{"dir":"recv","msg":1,"close":{}}`, `line 2: a line can have only one of`},
		{header + `{"dir":"recv","msg":1,"http":{}}`, `line 2: a line can have only one of`},
		{header + `{"dir":"recv","msg":1,"binary":7}`, `line 2: "binary" has the wrong type`},
		{header + `{"dir":"recv","match":""}`, `line 2: "match" is empty`},
		{header + `{"dir":"recv","match":7}`, `line 2: "match" is not a string`},
		{header + `{"t":0}`, `line 2: it has none of`},
		{header + `{"note":"x","re":"a"}`, `line 2: "bind", "vars", "name", "re", "optional" and "binary" need a message`},
		{header + `{"dir":"recv","match":".","vars":true}`, `line 2: "vars" needs a "msg"`},
		{header + `{"dir":"recv","match":".","bind":{"a b":"."}}`, `line 2: "bind": "a b" is not a name`},
		{header + `{"dir":"recv","match":".","bind":{"":"."}}`, `line 2: "bind": "" is not a name`},
		{header + `{"dir":"recv","match":".","bind":{"1a":"."}}`, `line 2: "bind": "1a" is not a name`},
		{header + `{"dir":"recv","match":".","bind":{"a/":"."}}`, `line 2: "bind": "a/" is not a name`},
		{header + `{"dir":"recv","match":".","bind":{"a:":"."}}`, `line 2: "bind": "a:" is not a name`},
		{header + `{"dir":"recv","match":".","bind":{"@":"."}}`, "line 2: \"bind\": \"@\" is not a name"},
		{header + `{"dir":"recv","match":".","bind":{"[":"."}}`, `line 2: "bind": "[" is not a name`},
		{header + "{\"dir\":\"recv\",\"match\":\".\",\"bind\":{\"`\":\".\"}}", "line 2: \"bind\": \"`\" is not a name"},
		{header + `{"dir":"recv","match":".","bind":{"a":".","é":"."}}`, `line 2: "bind": "é" is not a name`},
		{header + `{"dir":"recv","match":".","bind":[]}`, `line 2: "bind" is not an object`},
		{header + `{"dir":"recv","match":".","bind":{"a":1}}`, `line 2: "bind": the program of "a" is not a string`},
	}
	for _, tt := range tests {
		_, err := readAll(t, tt.tape)
		f := wire.AsFault(err)
		if f == nil || f.Kind != wire.Usage || !strings.HasPrefix(f.Message, "the tape x.tape, "+tt.want) {
			t.Errorf("%s:\n got %v\nwant %s", tt.tape, err, tt.want)
		}
	}
}

// A bind accepts these names.
func TestNames(t *testing.T) {
	lines, err := readAll(t, header+`{"dir":"recv","match":".","bind":{"a":".","z":".","A":".","Z":".","_":".","a0":".","a9":".","_1a":"."}}`)
	if err != nil || len(lines) != 1 || len(lines[0].Bind) != 8 {
		t.Errorf("%+v, %v", lines, err)
	}
}

// A tape that is cut at any byte is valid up to its last whole line.
func TestCut(t *testing.T) {
	whole := header + `{"t":0,"dir":"send","msg":{"a":"b\u0041"}}` + "\n" + `{"t":1,"dir":"recv","msg":-1.5e7}` + "\n"
	for n := len(header); n < len(whole); n++ {
		r, err := NewReader(strings.NewReader(whole[:n]), "x.tape")
		testkit.OK(t, err)
		lines := 0
		for _, err = r.Next(); err == nil; _, err = r.Next() {
			lines++
		}
		_, cut := r.Cut()
		begun := strings.Count(whole[:n], "\n") - 1
		if n == len(whole)-1 || n > len(header) && whole[n] == '\n' {
			begun++ // only the end of the line is missing
		}
		partial := whole[n-1] != '\n' && whole[n] != '\n'
		if err != io.EOF || lines != begun || cut != partial {
			t.Errorf("cut after %q: %d lines, cut %v, %v", whole[len(header):n], lines, cut, err)
		}
	}
}

func TestLongLines(t *testing.T) {
	msg := `"` + strings.Repeat("x", 300<<10) + `"`
	lines, err := readAll(t, header+`{"t":0,"dir":"send","msg":`+msg+"}\n"+`{"t":0,"dir":"send","msg":1}`)
	if err != nil || len(lines) != 2 || string(lines[0].Msg) != msg || string(lines[1].Msg) != "1" {
		t.Errorf("%d lines, %v", len(lines), err)
	}
	_, err = readAll(t, header+`{"t":0,"dir":"send","msg":"`+strings.Repeat("x", maxLine+128<<10))
	if err == nil || !strings.Contains(err.Error(), "line 2: it is longer than 85 MiB") {
		t.Errorf("%v", err)
	}
}

func TestReaderAllocatesNothing(t *testing.T) {
	text := header + strings.Repeat(`{"t":0.25,"conn":1,"dir":"recv","msg":{"jsonrpc":"2.0","method":"x","params":[1,2]}}`+"\n", 2000)
	r, err := NewReader(strings.NewReader(text), "x.tape")
	testkit.OK(t, err)
	testkit.Expect(t, "allocations a line", testing.AllocsPerRun(1000, func() { _, _ = r.Next() }), 0)
}

func TestWriterAllocatesNothing(t *testing.T) {
	o := Options{Redact: func(dst, msg []byte) ([]byte, Text) { return append(dst, msg...), JSON }}
	w, err := NewWriter(io.Discard, Header{}, o)
	testkit.OK(t, err)
	defer w.Close()
	msg := []byte(`{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x1","result":{"number":12}}}`)
	for range 3000 { // until the buffers have reached their size
		w.Record(w.Elapsed(), 1, wire.Recv, msg)
	}
	testkit.Expect(t, "allocations a message", testing.AllocsPerRun(5000, func() { w.Record(w.Elapsed(), 1, wire.Recv, msg) }), 0)
}

// Reading a tape returns the recorded messages, without line breaks between tokens.
func TestWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where time begins in the year 2000
		var buf bytes.Buffer
		w, err := NewWriter(&buf, Header{Dialect: "scomp"}, Options{})
		testkit.OK(t, err)
		w.Add(Line{Kind: Opening, Open: &Open{}})
		w.Record(w.Elapsed(), 0, wire.Send, nil)
		time.Sleep(13200 * time.Microsecond)
		w.Record(w.Elapsed(), 0, wire.Send, []byte("{\n \"a\": 1.10}\r\n"))
		for _, msg := range []string{"", "\xff", "hello"} {
			w.Record(w.Elapsed(), 0, wire.Recv, []byte(msg))
		}
		testkit.OK(t, w.Close())
		w.Record(w.Elapsed(), 0, wire.Recv, []byte("late"))
		want := `{"tape":1,"dialect":"scomp","started":"2000-01-01T00:00:00Z"}
{"t":0,"open":{}}
{"t":0,"dir":"send","text":""}
{"t":0.0132,"dir":"send","msg":{"a":1.10}}
{"t":0.0132,"dir":"recv","text":""}
{"t":0.0132,"dir":"recv","base64":"/w=="}
{"t":0.0132,"dir":"recv","text":"hello"}
`
		testkit.Expect(t, "the tape", buf.String(), want)
	})
}

// Single lines are written at once, and many lines together within 5 ms.
func TestFlushing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var writes []string
		w, err := NewWriter(writerFunc(func(b []byte) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			writes = append(writes, string(b))
			return len(b), nil
		}), Header{}, Options{})
		testkit.OK(t, err)
		defer w.Close()
		time.Sleep(time.Second)
		synctest.Wait()
		for range 3 {
			w.Record(w.Elapsed(), 0, wire.Send, []byte("1"))
		}
		mu.Lock()
		testkit.Expect(t, fmt.Sprint(writes), len(writes), 2)
		mu.Unlock()
		time.Sleep(flushDelay + time.Microsecond)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if len(writes) != 3 || strings.Count(writes[2], "\n") != 2 {
			t.Errorf("after the delay: %q", writes)
		}
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// A fullFile is a file on a disk that has room for a number of bytes.
type fullFile struct {
	*os.File
	room int
}

func (f *fullFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b[:min(len(b), f.room)])
	if f.room -= n; err == nil && n < len(b) {
		err = errors.New("no space left on device")
	}
	return n, err
}

// When the disk is full, the tape ends with a whole line, and rpcx warns once. It has everything that fits on the disk, even if one
// write exceeds the room.
func TestFullDisk(t *testing.T) {
	for pause, room := range map[time.Duration]int{0: 1000, time.Second: 120} {
		synctest.Test(t, func(t *testing.T) {
			file, err := os.Create(filepath.Join(t.TempDir(), "x.tape"))
			testkit.OK(t, err)
			defer file.Close()
			var told []error
			w, err := NewWriter(&fullFile{file, room}, Header{}, Options{Failed: func(err error) { told = append(told, err) }})
			testkit.OK(t, err)
			for range 100 {
				time.Sleep(pause)
				w.Record(w.Elapsed(), 0, wire.Send, []byte("1"))
			}
			err = w.Close()
			if err == nil || err.Error() != "the tape cannot be written: no space left on device" || len(told) != 1 {
				t.Errorf("%v, reported %v", err, told)
			}
			b, err := os.ReadFile(file.Name())
			if err != nil || len(b) < room-50 || len(b) > room || b[len(b)-1] != '\n' {
				t.Errorf("%d bytes of %d, %v: %q", len(b), room, err, b[max(len(b)-50, 0):])
			}
		})
	}
}
