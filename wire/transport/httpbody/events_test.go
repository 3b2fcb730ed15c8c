package httpbody

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// events reads all events of a stream.
func events(r io.Reader, max int) ([]string, error) {
	var got []string
	err := Events(r, max, nil, func(b []byte) { got = append(got, string(b)) })
	return got, err
}

func TestReadEvents(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for name, tt := range map[string]struct {
		in   string
		want []string
	}{
		"LF":                        {"data: 1\n\ndata: 2\n\n", []string{"1", "2"}},
		"CRLF":                      {"data: 1\r\n\r\ndata: 2\r\n\r\n", []string{"1", "2"}},
		"CR":                        {"data: 1\r\rdata: 2\r\r", []string{"1", "2"}},
		"LF, CRLF and CR":           {"data: 1\r\n\ndata: 2\r\r\ndata: 3\n\r", []string{"1", "2", "3"}},
		"no space after the colon":  {"data:1\n\n", []string{"1"}},
		"only one space is removed": {"data:  1\n\n", []string{" 1"}},
		"several data lines":        {"data: {\ndata: \"a\":1\ndata: }\n\n", []string{"{\n\"a\":1\n}"}},
		"other fields": {
			"event: message\nid: 7\nretry: 10\ndatum: 3\ndatax: 4\ndata: 1\nDATA: 2\n\n",
			[]string{"1"},
		},
		"comments":                            {": hello\ndata: 1\n: more\n\n:\n\n", []string{"1"}},
		"a byte order mark":                   {"\xEF\xBB\xBFdata: 1\n\n", []string{"1"}},
		"events without data":                 {"event: ping\n\ndata\n\ndata:\n\ndata: 1\n\n", []string{"1"}},
		"an empty data line":                  {"data: 1\ndata\ndata: 2\n\n", []string{"1\n\n2"}},
		"many empty lines":                    {"\n\n\ndata: 1\n\n\n\n", []string{"1"}},
		"cut off after a complete JSON value": {"data: 1\n\ndata: {\"a\":1}\n", []string{"1", `{"a":1}`}},
		"cut off within a line":               {"data: {\"a\":1}", []string{`{"a":1}`}},
		"cut off within JSON":                 {"data: 1\n\ndata: {\"a\":", []string{"1"}},
		"long":                                {"data: " + long + "\n\ndata: 1\n\n", []string{long, "1"}},
		"nothing":                             {"", nil},
	} {
		for how, r := range map[string]io.Reader{
			"whole": strings.NewReader(tt.in), "byte by byte": iotest.OneByteReader(strings.NewReader(tt.in)),
		} {
			if got, err := events(r, 1<<20); err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s, %s: %.60q %v, want %.60q", name, how, got, err, tt.want)
			}
		}
	}
}

func TestReadEventsFaults(t *testing.T) {
	for name, in := range map[string]string{
		"one line":              "data: " + strings.Repeat("x", 1001) + "\n\n",
		"many lines":            strings.Repeat("data: "+strings.Repeat("x", 100)+"\n", 10) + "\n",
		"the last line":         "data:" + strings.Repeat("x", 1001),
		"a line without an end": "data: " + strings.Repeat("x", 1_000_000),
	} {
		if _, err := events(strings.NewReader(in), 1000); wire.AsFault(err) == nil {
			t.Errorf("above the limit, %s: %v", name, err)
		}
	}
	if got, err := events(strings.NewReader("data: "+strings.Repeat("x", 1000)+"\n\n"), 1000); err != nil || len(got) != 1 {
		t.Errorf("exactly at the limit: %d %v", len(got), err)
	}
	broken := errors.New("broken")
	got, err := events(io.MultiReader(strings.NewReader("data: 1\n\ndata: 2\n"), iotest.ErrReader(broken)), 1000)
	if err != broken || !slices.Equal(got, []string{"1"}) {
		t.Errorf("a broken connection: %q %v", got, err)
	}
}

// An event is passed on when its empty line has arrived, even if that line ends with a CR after which an LF may follow.
func TestReadEventsDoesNotWait(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n"} {
		r, w := io.Pipe()
		got := make(chan string)
		done := make(chan error, 1)
		go func() { done <- Events(r, 1000, nil, func(b []byte) { got <- string(b) }) }()
		for _, s := range []string{"1", "2"} {
			io.WriteString(w, "data: "+s+end+end)
			testkit.Expect(t, end, <-got, s)
		}
		w.Close()
		testkit.OK(t, <-done)
	}
}

func FuzzEvents(f *testing.F) {
	for _, s := range []string{"data: 1\n\n", "data: a\r\ndata: b\r\r", ":c\nid: 1\n\n", "\xEF\xBB\xBFdata:x", "data\n\n\n"} {
		f.Add([]byte(s), 100)
	}
	f.Fuzz(func(t *testing.T, in []byte, max int) {
		max = 1 + min(max, 1<<16)&0xffff
		whole, err1 := events(bytes.NewReader(in), max)
		pieces, err2 := events(iotest.OneByteReader(bytes.NewReader(in)), max)
		if (err1 == nil) != (err2 == nil) || err1 == nil && !slices.Equal(whole, pieces) {
			t.Fatalf("at once %q %v, in pieces %q %v", whole, err1, pieces, err2)
		}
		for _, e := range whole {
			if len(e) > max || e == "" {
				t.Fatalf("an event of %d bytes, with the limit %d", len(e), max)
			}
		}
		// Events can read what AppendEvent writes. In JSON, CRs and LFs occur only between tokens. They become LFs.
		back, err := events(bytes.NewReader(AppendEvent(nil, in)), len(in)+100)
		want := strings.ReplaceAll(strings.ReplaceAll(string(in), "\r\n", "\n"), "\r", "\n")
		if err != nil || len(want) > 0 && (len(back) != 1 || back[0] != want) {
			t.Fatalf("%q was read back as %q %v", want, back, err)
		}
	})
}

// Bodies that are longer than the limit are rejected.
func TestLongBodies(t *testing.T) {
	var zip bytes.Buffer
	w := gzip.NewWriter(&zip)
	_, _ = w.Write(bytes.Repeat([]byte("x"), 1001))
	_ = w.Close()
	_, zipped := DecodedBytes("gzip", zip.Bytes(), 1000)
	lines := func(n int) error {
		return Lines(strings.NewReader(strings.Repeat("x", n)), 1000, func([]byte) { t.Error("a message") })
	}
	for _, err := range []error{zipped, lines(1001), lines(100_000)} {
		if f := wire.AsFault(err); f == nil || !strings.Contains(f.Message, "1000 bytes") {
			t.Error(err)
		}
	}
	if got, err := DecodedBytes("gzip", zip.Bytes(), 1001); err != nil || len(got) != 1001 {
		t.Error(len(got), err)
	}
}
