package player

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// A connection is open from its first line to its last, also while only other connections have messages.
func TestPresence(t *testing.T) {
	const locked = `1 open, 2 open, 1 > lock, 1 < true, 2 > 900ms, 2 < true, 2 close, 1 close`
	many := strings.Repeat("2 > a, 2 < true, ", 20)
	var crowd []string // 50 connections that overlap
	for _, line := range []string{"open", "> a", "< true", "close"} {
		for n := range 50 {
			crowd = append(crowd, fmt.Sprintf("%d %s", n+1, line))
		}
	}
	for _, test := range []struct {
		name, tape string
		want       string // what the client does; by default the tape without responses
		timed      bool   // there is a second between two lines
		speed      float64
		found      string
		seconds    int
	}{
		{name: "the first stays open", tape: locked},
		{name: "the first is closed before the question", tape: `1 open, 1 > lock, 1 < true, 2 open, 1 close, 2 > held, 2 < true, 2 close`},
		{name: "many", tape: strings.Join(crowd, ", ")},
		{name: "without messages", tape: `1 open, 2 open, 1 > a, 1 < true, 2 close, 1 > a, 1 < true, 1 close`},
		{
			name: "a session that ends with DELETE", tape: `1 open, 1 > lock, 1 < true, 2 open, 1 delete, 2 > held, 2 < true, 2 close`,
			want: `1 open, 1 > lock, 2 open, 1 close, 2 > held, 2 close`,
		},
		{name: "slower than recorded", tape: `1 open, 2 open, 2 > 900ms, 2 < true, 2 > 900ms, 2 < true, 2 > 900ms, 2 < true, 2 close, 1 close`, seconds: 2},
		{name: "as slow as recorded", tape: `1 open, 1 > 2500ms, 1 < true, 1 > a, 1 < true, 2 open, 1 > a, 1 < true, 2 close, 1 close`, timed: true, seconds: 2},
		{name: "at the recorded pace", tape: `1 open, 2 open, 1 > a, 1 < true, 3 open, 3 > a, 3 < true, 2 > a, 2 < true, 3 close, 4 open, 4 > a, 4 < true, 4 close, 2 close, 1 close`, timed: true, speed: 1, seconds: 11},
		{name: "at a tenth of the pace", tape: locked, timed: true, speed: 0.1, seconds: 40},
		{
			name: "a missing response", tape: `1 open, 2 open, 2 > dead, 2 < true, 2 > a, 2 < true, 2 close, 1 close`,
			want: `1 open, 2 open, 2 > dead, 1 close, 2 > a, 2 close`, found: "missing 5", seconds: 10,
		},
		{
			name: "a missing response before many lines", tape: `1 open, 2 open, 1 > dead, 1 < true, 1 close, ` + many + `2 close`,
			want: `1 open, 2 open, 1 > dead, ` + strings.ReplaceAll(many, "2 < true, ", "") + `2 close, 1 close`, found: "missing 5", seconds: 10,
		},
		{
			name: "closed by the peer", tape: `1 open, 2 open, 1 > leave, 2 > 900ms, 2 < true, 2 > a, 2 < true, 2 close, 1 close`,
			want: `1 open, 2 open, 1 > leave, 2 > 900ms, 1 close, 2 > a, 2 close`,
		},
		{
			name: "without close lines", tape: `1 open, 1 > a, 1 < true, 2 open, 2 > a, 2 < true`,
			want: `1 open, 1 > a, 1 close, 2 open, 2 > a, 2 close`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lines := strings.Split(test.tape, ", ")
				want := test.want
				if want == "" {
					want = strings.Join(slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.Contains(l, "<") }), ", ")
				}
				log := &presence{}
				began := time.Now()
				results, err := Clients(t.Context(), read(t, tapeOf(lines, test.timed)), Options{Speed: test.speed}, false, func(ctx context.Context, n int, o Options) ([]*Found, error) {
					here, there := transport.Pair()
					c := &watched{Conn: here, log: log, n: n + 1}
					log.add("%d open", c.n)
					go respond(there)
					return Client(ctx, read(t, tapeOf(lines, test.timed)), n, c, o)
				})
				testkit.OK(t, err)
				testkit.Expect(t, "the order", strings.Join(log.all, ", "), want)
				if got := time.Since(began); int(got.Seconds()) != test.seconds {
					t.Errorf("it took %v", got)
				}
				if got := texts(told(slices.Concat(results...))); !strings.HasPrefix(got, test.found) || test.found == "" && got != "" {
					t.Errorf("%s", got)
				}
			})
		})
	}
}

// tapeOf returns the lines of a tape. If timed is set, there is a second between them.
func tapeOf(lines []string, timed bool) string {
	var b strings.Builder
	asked := map[string]string{} // the latest request, by connection
	for i, line := range lines {
		conn, what, _ := strings.Cut(line, " ")
		word, val, _ := strings.Cut(what, " ")
		fmt.Fprintf(&b, `{"conn":%s,`, conn)
		if timed {
			fmt.Fprintf(&b, `"t":%d,`, i)
		}
		switch word {
		case "open":
			b.WriteString(`"open":{}}`)
		case "close":
			b.WriteString(`"dir":"send","close":{"clean":true}}`)
		case "delete":
			b.WriteString(`"http":{"method":"DELETE","url":"http://h/"}}`)
		case ">":
			asked[conn] = val
			fmt.Fprintf(&b, `"dir":"send","msg":{"jsonrpc":"2.0","id":%q,"method":%q}}`, val, val)
		case "<":
			fmt.Fprintf(&b, `"dir":"recv","msg":{"jsonrpc":"2.0","id":%q,"result":%s}}`, asked[conn], val)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// respond is a peer. It ends the connection some time after the request "leave", and does not respond to "dead". Other methods are how
// long it takes to respond.
func respond(c wire.Conn) {
	for {
		msg, err := c.Recv()
		if err != nil {
			return
		}
		switch method := scan.String(scan.Get(msg, "method")); method {
		case "leave":
			time.Sleep(100 * time.Millisecond)
			_ = c.(wire.HalfCloser).CloseSend()
		case "dead":
		default:
			took, _ := time.ParseDuration(method)
			time.Sleep(took)
			_ = c.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":true}`, scan.Get(msg, "id")))
		}
	}
}

// presence is what the client has done on all its connections.
type presence struct {
	mu  sync.Mutex
	all []string
}

func (p *presence) add(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, fmt.Sprintf(format, args...))
}

// A watched connection logs what the client does.
type watched struct {
	wire.Conn
	log  *presence
	n    int
	once sync.Once
}

func (c *watched) Send(msg []byte) error {
	c.log.add("%d > %s", c.n, scan.String(scan.Get(msg, "method")))
	return c.Conn.Send(msg)
}

func (c *watched) Close() error {
	c.once.Do(func() { c.log.add("%d close", c.n) })
	return c.Conn.Close()
}
