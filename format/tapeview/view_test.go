package tapeview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/jq"
	"rpcx/wire/redact"
	"rpcx/wire/tape"
	"rpcx/wire/testkit"
)

func open(t *testing.T, name string) *tape.Reader {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	testkit.OK(t, err)
	return read(t, string(b))
}

func read(t *testing.T, text string) *tape.Reader {
	t.Helper()
	r, err := tape.NewReader(strings.NewReader(text), "a.tape")
	testkit.OK(t, err)
	return r
}

func show(t *testing.T, r *tape.Reader, o ShowOptions) string {
	t.Helper()
	var b strings.Builder
	testkit.OK(t, Show(context.Background(), &b, r, o))
	return b.String()
}

func TestShow(t *testing.T) {
	for _, c := range []struct {
		golden string
		o      ShowOptions
	}{
		{"orders.txt", ShowOptions{Width: 110}},
		{"orders-narrow.txt", ShowOptions{Width: 60}},
	} {
		got := show(t, open(t, "orders.tape"), c.o)
		want, err := os.ReadFile("testdata/" + c.golden)
		testkit.OK(t, err)
		if got != string(want) {
			t.Errorf("%s: got\n%s", c.golden, got)
		}
		for line := range strings.Lines(got) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > c.o.Width {
				t.Errorf("%d columns in a terminal of %d: %s", n, c.o.Width, line)
			}
		}
	}
}

// In colour, errors are red, and the output has no escape sequences from a peer.
func TestShowInColour(t *testing.T) {
	got := show(t, open(t, "orders.tape"), ShowOptions{Width: 200, Color: true})
	if !strings.Contains(got, "\x1b[31m✗ getOrder (1.0ms) -32004 no such order") {
		t.Errorf("no red error in\n%s", got)
	}
	plain := regexp.MustCompile("\x1b\\[[0-9]+m").ReplaceAllString(got, "")
	if strings.Contains(plain, "\x1b") || !strings.Contains(plain, `\u001b[31mred`) {
		t.Errorf("an escape sequence from a peer in\n%q", plain)
	}
	if strings.Contains(plain, "hunter2") {
		t.Error("a secret is printed")
	}
}

func TestShowIsSafe(t *testing.T) {
	evil := `\u001b]0;owned\u0007\u009b31m\u202ereversed\r\n`
	got := show(t, read(t, `{"tape":1,"endpoint":"`+evil+`","dialect":"`+evil+`"}
{"note":"`+evil+`"}
{"open":{"endpoint":"`+evil+`","from":"`+evil+`"}}
{"dir":"send","msg":{"id":"`+evil+`","method":"`+evil+`","params":["`+evil+`"]}}
{"dir":"recv","msg":{"id":"`+evil+`","error":{"code":1,"message":"`+evil+`"}}}
{"dir":"recv","text":"`+evil+`"}
{"dir":"recv","base64":"G10wO293bmVkBw=="}
{"http":{"method":"`+evil+`","url":"`+evil+`","error":"`+evil+`","times":{}}}
{"close":{"reason":"`+evil+`"}}
`), ShowOptions{})
	for _, r := range got {
		if r != '\n' && (r < 0x20 || 0x7f <= r && r <= 0x9f || r == 0x202e) {
			t.Fatalf("%U in\n%q", r, got)
		}
	}
}

// nested returns the kind, name, call and depth of each row.
func nested(t *testing.T, r *tape.Reader) string {
	t.Helper()
	rows := newReader(r, Options{})
	var b strings.Builder
	for row, err := range rows.all(t.Context()) {
		testkit.OK(t, err)
		fmt.Fprintf(&b, "%d %s%s %s", row.Number, strings.Repeat("  ", row.Depth), row.Kind, row.Name)
		if row.Of != 0 {
			fmt.Fprintf(&b, " of %d", row.Of)
		}
		if row.Failed {
			b.WriteString(" failed")
		}
		if row.Final {
			b.WriteString(" final")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestRows(t *testing.T) {
	for _, c := range []struct{ name, tape, want string }{
		{"a call inside a call inside a call", `{"tape":1}
{"dir":"send","msg":{"id":1,"method":"a"}}
{"dir":"recv","msg":{"id":1,"method":"b"}}
{"dir":"send","msg":{"id":2,"method":"c"}}
{"dir":"recv","msg":{"method":"news"}}
{"dir":"recv","msg":{"id":2,"result":1}}
{"dir":"send","msg":{"id":1,"result":1}}
{"dir":"recv","msg":{"id":1,"error":{"code":1}}}
{"dir":"recv","msg":{"id":1,"result":1}}
{"dir":"recv","msg":{"id":99,"result":1}}
`, `1 call a
2   call b
3     call c
4       notification news
5     response c of 3
6   response b of 2
7 response a of 1 failed
8 item a of 1
9 response 
`},
		{"a stream by its subscription, then one by its id", `{"tape":1,"dialect":"introspect"}
{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"svc_watch"}}
{"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":"s1"}}
{"dir":"recv","msg":{"jsonrpc":"2.0","method":"service_subscription","params":{"subscription":"s1","result":{"type":"progress"}}}}
{"dir":"recv","msg":{"jsonrpc":"2.0","method":"service_subscription","params":{"subscription":"s1","result":{"type":"done"}}}}
{"dir":"recv","msg":{"jsonrpc":"2.0","method":"service_subscription","params":{"subscription":"other","error":{"code":1}}}}
{"dir":"send","msg":{"jsonrpc":"2.0","id":2,"method":"svc_x"}}
{"dir":"recv","msg":{"jsonrpc":"2.0","method":"service_subscription","params":{"subscription":"other","result":{"type":"done"}}}}
`, `1 call svc_watch
2 response svc_watch of 1
3   item svc_watch of 1
4   item svc_watch of 1 final
5 item service_subscription failed final
6 call svc_x
7   item service_subscription final
`},
		{"HTTP statuses", `{"tape":1}
{"http":{"method":"POST","status":399}}
{"http":{"method":"POST","status":400}}
`, `1 http 
2 http  failed
`},
		{"hotrepl", `{"tape":1,"dialect":"hotrepl"}
{"dir":"recv","msg":{"type":"handshake","protocolVersion":2}}
{"dir":"send","msg":{"type":"eval","id":"e1","code":"1+1"}}
{"dir":"recv","msg":{"type":"eval_result","id":"e1","value":2}}
{"dir":"send","msg":{"type":"subscribe","id":"w1","code":"x"}}
{"dir":"recv","msg":{"type":"subscribe_result","id":"w1","seq":1,"value":2}}
{"dir":"recv","msg":{"type":"subscribe_error","id":"w1","seq":2,"error":{"kind":"x"},"final":true}}
{"dir":"send","msg":{"type":"command_call","id":"c1","name":"x"}}
{"dir":"recv","msg":{"type":"command_result","id":"c1","status":"failed"}}
{"dir":"recv","msg":{"type":"error","error":{"kind":"x"}}}
`, `1 greeting handshake
2 call eval
3 response eval of 2
4 call subscribe
5   item subscribe of 4
6   item subscribe of 4 failed final
7 call command_call x
8 response command_call x of 7 failed
9 notification error failed
`},
		{"dap", `{"tape":1}
{"dir":"send","msg":{"seq":1,"type":"request","command":"launch","arguments":{}}}
{"dir":"recv","msg":{"seq":1,"type":"request","command":"runInTerminal"}}
{"dir":"send","msg":{"seq":2,"type":"response","request_seq":1,"success":true,"command":"runInTerminal"}}
{"dir":"recv","msg":{"seq":2,"type":"event","event":"output"}}
{"dir":"recv","msg":{"seq":3,"type":"response","request_seq":1,"success":false,"command":"launch","message":"no"}}
`, `1 call launch
2   call runInTerminal
3   response runInTerminal of 2
4   notification output
5 response launch of 1 failed
`},
		{"qmp", `{"tape":1,"dialect":"qmp"}
{"dir":"recv","msg":{"QMP":{"version":{}}}}
{"dir":"send","msg":{"execute":"qmp_capabilities"}}
{"dir":"recv","msg":{"return":{}}}
{"dir":"recv","msg":{"event":"STOP"}}
{"dir":"send","msg":{"execute":"x","id":1}}
{"dir":"recv","msg":{"error":{"class":"GenericError","desc":"no"},"id":1}}
`, `1 greeting QMP
2 call qmp_capabilities
3 response qmp_capabilities of 2
4 notification STOP
5 call x
6 response x of 5 failed
`},
		{"several connections, a batch, what is not a message", `{"tape":1}
{"conn":1,"dir":"send","msg":{"id":1,"method":"a"}}
{"conn":2,"dir":"recv","msg":{"id":1,"result":1}}
{"conn":1,"dir":"recv","msg":[{"id":1,"result":1},{"method":"n"}]}
{"conn":1,"dir":"recv","msg":[]}
{"conn":1,"dir":"recv","msg":5}
{"conn":1,"dir":"recv","msg":{"x":1}}
{"conn":1,"dir":"recv","text":"noise"}
{"conn":1,"dir":"recv","match":".id == 1","re":"later"}
`, `1 call a
2 response 
3 response a of 1
4 notification n
5 broken  failed
6 broken  failed
7 broken  failed
8 broken  failed
9 broken later
`},
	} {
		if got := nested(t, read(t, c.tape)); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct{ jq, grep, want string }{
		{"", "^price$", "price price"},
		{"", "no such order", "getOrder"},
		{`.method == "getOrder"`, "", "getOrder getOrder"},
		{`.params.count > 2`, "tea", "placeOrder placeOrder"},
		{`.nothing`, "", ""},
		{`.result | test("x")`, "", "watch"}, // fails for results that are not strings
	} {
		o := ShowOptions{}
		if c.grep != "" {
			o.Grep = regexp.MustCompile(c.grep)
		}
		if c.jq != "" {
			p, err := jq.Compile(c.jq, jq.Options{})
			testkit.OK(t, err)
			o.JQ = p
		}
		var names []string
		rows := newReader(open(t, "orders.tape"), o.Options)
		for row, err := range rows.all(t.Context()) {
			testkit.OK(t, err)
			if rows.keeps(t.Context(), row) {
				names = append(names, row.Name)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("--jq %q --grep %q: got %q, want %q", c.jq, c.grep, got, c.want)
		}
	}
}

// The view of a tape with an invalid line ends before that line. A truncated tape has a note.
func TestShowBrokenTapes(t *testing.T) {
	var b strings.Builder
	err := Show(context.Background(), &b, read(t, "{\"tape\":1}\n{\"dir\":\"send\",\"msg\":{\"method\":\"a\"}}\ngarbage\n"), ShowOptions{})
	if err == nil || !strings.Contains(err.Error(), "line 3") || !strings.Contains(b.String(), "a") {
		t.Errorf("got %v after %q", err, b.String())
	}
	b.Reset()
	calls := `{"tape":1,"dialect":"scomp"}` + "\n" + `{"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"a"}}` + "\n" + `{"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"result":{"item":7}}}` + "\n"
	if err = Show(context.Background(), &b, read(t, calls+"garbage\n"), ShowOptions{}); err == nil || !strings.Contains(b.String(), "7") {
		t.Errorf("got %v after %q", err, b.String())
	}
	b.Reset()
	items := strings.Repeat(`{"dir":"recv","msg":{"jsonrpc":"2.0","method":"s","params":{"subscription":"1","result":7}}}`+"\n", 3)
	if err = Show(context.Background(), &b, read(t, `{"tape":1,"dialect":"jsonrpc"}`+"\n"+items+"garbage\n"), ShowOptions{}); err == nil || !strings.Contains(b.String(), "one more") {
		t.Errorf("got %v after %q", err, b.String())
	}
	if got := show(t, read(t, "{\"tape\":1}\n{\"dir\":\"send\",\"msg\":{\"met"), ShowOptions{}); !strings.Contains(got, "cut off inside line 2") {
		t.Errorf("got %q", got)
	}
}

func FuzzViews(f *testing.F) {
	for _, name := range []string{"orders.tape", "http.tape"} {
		b, err := os.ReadFile("testdata/" + name)
		testkit.OK(f, err)
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, text string) {
		ctx := context.Background()
		for _, view := range []func(r *tape.Reader) error{
			func(r *tape.Reader) error { return Show(ctx, io.Discard, r, ShowOptions{Width: 70, Color: true}) },
			func(r *tape.Reader) error { return HTML(ctx, io.Discard, r, Options{}) },
			func(r *tape.Reader) error { return HAR(ctx, io.Discard, r, "", Options{}) },
		} {
			if r, err := tape.NewReader(strings.NewReader(text), "a.tape"); err == nil {
				_ = view(r)
			}
		}
	})
}

// A full is a file on a disk that is full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// Every view returns the error of the tape, and otherwise that of its output.
func TestViewsFail(t *testing.T) {
	const ok = `{"tape":1}` + "\n" + `{"http":{"method":"GET","url":"http://x/","times":{}}}` + "\n"
	for name, view := range map[string]func(w io.Writer, r *tape.Reader) error{
		"show": func(w io.Writer, r *tape.Reader) error { return Show(t.Context(), w, r, ShowOptions{}) },
		"html": func(w io.Writer, r *tape.Reader) error { return HTML(t.Context(), w, r, Options{}) },
		"har":  func(w io.Writer, r *tape.Reader) error { return HAR(t.Context(), w, r, "1", Options{}) },
	} {
		if err := view(io.Discard, read(t, ok+"garbage\n")); err == nil || !strings.HasPrefix(err.Error(), "the tape a.tape, line 3: ") {
			t.Errorf("%s: %v", name, err)
		}
		if err := view(full{}, read(t, ok)); !errors.Is(err, io.ErrShortWrite) || wire.AsFault(err) == nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := view(io.Discard, read(t, ok)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Items of more streams than are folded are shown one by one.
func TestManyStreams(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"tape":1}` + "\n")
	for range 2 {
		for n := range maxRuns + 1 {
			fmt.Fprintf(&b, `{"t":0,"conn":%d,"dir":"recv","msg":{"jsonrpc":"2.0","method":"x","params":{"subscription":"s%d","result":1}}}`+"\n", n+1, n)
		}
	}
	if got := show(t, read(t, b.String()), ShowOptions{}); strings.Count(got, "◀") != maxRuns*2+2 {
		t.Errorf("%d items are shown", strings.Count(got, "◀"))
	}
}

func TestFactsOfHTTP(t *testing.T) {
	facts := httpFacts(&tape.HTTP{Proto: "HTTP/1.1", Times: tape.Times{TLS: 0.5}, Request: [][2]string{{"Authorization", "Bearer abc"}}, Response: [][2]string{{"Content-Type", "a/b"}}})
	if got, want := fmt.Sprint(facts), "[[Protocol HTTP/1.1] [TLS 500ms] [> Authorization "+redact.Mark+"] [< Content-Type a/b]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
