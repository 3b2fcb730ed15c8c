package tapeview

import (
	"context"
	"fmt"
	"io"
	"testing"

	"rpcx/wire/tape"
	"rpcx/wire/testkit"
)

// A longTape generates a tape of n messages: calls, responses and stream items.
type longTape struct {
	n, at int
	rest  string
	most  int64 // the largest heap so far
}

func (l *longTape) Read(b []byte) (int, error) {
	if l.rest == "" {
		if l.at == l.n {
			return 0, io.EOF
		}
		if l.at%50_000 == 0 {
			l.most = max(l.most, testkit.Heap())
		}
		switch i := l.at; {
		case i == 0:
			l.rest = `{"tape":1,"endpoint":"ws://127.0.0.1:9/"}` + "\n" + `{"t":0,"dir":"send","msg":{"jsonrpc":"2.0","id":0,"method":"watch"}}` + "\n"
		case i%3 == 0:
			l.rest = fmt.Sprintf(`{"t":%d,"dir":"recv","msg":{"jsonrpc":"2.0","method":"watch","params":{"subscription":"s1","result":%d}}}`+"\n", i, i)
		case i%3 == 1:
			l.rest = fmt.Sprintf(`{"t":%d,"dir":"send","msg":{"jsonrpc":"2.0","id":%d,"method":"get","params":[%d]}}`+"\n", i, i, i)
		default:
			l.rest = fmt.Sprintf(`{"t":%d,"dir":"recv","msg":{"jsonrpc":"2.0","id":%d,"result":%d}}`+"\n", i, i-1, i)
		}
		l.at++
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// The memory for the text and for the page does not depend on the length of the tape.
func TestMemory(t *testing.T) {
	testkit.RaceSkips(t)
	show := func(r *tape.Reader) error {
		return Show(context.Background(), io.Discard, r, ShowOptions{})
	}
	page := func(r *tape.Reader) error { return HTML(context.Background(), io.Discard, r, Options{}) }
	for _, view := range []struct {
		name    string
		write   func(*tape.Reader) error
		lengths [2]int
	}{{"show", show, [2]int{100_000, 400_000}}, {"html", page, [2]int{100_000, 300_000}}} {
		var most [2]int64
		for i, n := range view.lengths {
			l := &longTape{n: n}
			r, err := tape.NewReader(l, "long.tape")
			testkit.OK(t, err)
			testkit.OK(t, view.write(r))
			most[i] = l.most
		}
		if most[1] > most[0]+2<<20 {
			t.Errorf("%s: %d bytes after %d messages", view.name, most, view.lengths)
		}
	}
}
