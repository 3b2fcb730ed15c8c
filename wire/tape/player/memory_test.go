package player

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// Playing, comparing or updating a tape takes at most 150 bytes of memory per message, even if each response has a generated value.
// A small difference takes at most another 150 bytes.
func TestMemory(t *testing.T) {
	testkit.SampleSkips(t)
	const few, many = 70_000, 140_000
	for _, c := range []struct {
		name string
		use  func(t *testing.T, messages int) int64
		most float64 // bytes of memory per message
	}{
		{"server", serveLong, 150},
		{"client", playLong, 150},
		{"diff", diffLong, 2 * 150},            // two tapes
		{"differences", differLong, 150 + 150}, // one difference per message
		{"update", updateLong, 150 + 150},      // one difference per message
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := c.use(t, few), c.use(t, many)
			each := float64(b-a) / (many - few)
			t.Logf("%.1f bytes a message", each)
			if each > c.most {
				t.Errorf("%.1f bytes a message: %d KiB for %d, %d for %d", each, a>>10, few, b>>10, many)
			}
		})
	}
}

// long returns a tape of calls. made is the generated part of each response.
func long(t *testing.T, messages int, made string) *transcript.Transcript {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "long.tape"))
	testkit.OK(t, err)
	t.Cleanup(func() { _ = f.Close() })
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, `{"tape":1}`)
	for i := range messages / 2 {
		fmt.Fprintf(w, `{"dir":"send","msg":%s}`+"\n", longRequest(i))
		fmt.Fprintf(w, `{"dir":"recv","msg":%s}`+"\n", longAnswer(i, made))
	}
	testkit.OK(t, w.Flush())
	if _, err := f.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	tr, err := transcript.Read(f, f.Name(), rules)
	testkit.OK(t, err)
	t.Cleanup(func() { _ = tr.Close() })
	return tr
}

func longRequest(i int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"get","params":[%d]}`, i, i)
}

func longAnswer(i int, made string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"sessionId":"%s-%d"}}`, i, made, i)
}

func serveLong(t *testing.T, messages int) (used int64) {
	before := testkit.Heap()
	s, err := NewServer(long(t, messages, "a"), Options{})
	testkit.OK(t, err)
	here, there := transport.Pair()
	done := make(chan error, 1)
	go func() { done <- s.Serve(t.Context(), there) }()
	p := peer{t, here}
	for i := range messages / 2 {
		p.say(longRequest(i))
		p.hear(longAnswer(i, "a"))
	}
	used = testkit.Heap() - before
	_ = here.Close()
	testkit.OK(t, <-done)
	return used
}

func playLong(t *testing.T, messages int) (used int64) {
	before := testkit.Heap()
	tr := long(t, messages, "a")
	here, there := transport.Pair()
	done := make(chan error, 1)
	go func() {
		r, err := Client(t.Context(), tr, 0, here, Options{})
		if err == nil && len(r) > 0 {
			err = fmt.Errorf("%d differences, first %s", len(r), r[0])
		}
		done <- err
	}()
	p := peer{t, there}
	for i := range messages / 2 {
		p.hear(longRequest(i))
		if i == messages/2-1 {
			used = testkit.Heap() - before
		}
		p.say(longAnswer(i, "b"))
	}
	testkit.OK(t, <-done)
	return used
}

func diffLong(t *testing.T, messages int) int64 {
	before := testkit.Heap()
	d := newDiffer(long(t, messages, "a").Tracks[0], long(t, messages, "b").Tracks[0], Options{}, false)
	testkit.OK(t, d.run())
	used := testkit.Heap() - before
	if found := d.found(); len(found) > 0 {
		t.Errorf("%d differences, first %s", len(found), found[0])
	}
	return used
}

// differLong plays a server while all responses differ from the recorded ones.
func differLong(t *testing.T, messages int) int64 {
	before := testkit.Heap()
	tr := long(t, messages, "a")
	here, there := transport.Pair()
	found := make(chan []*Found, 1)
	go func() {
		r, err := Client(t.Context(), tr, 0, here, Options{})
		testkit.Expect(t, "the error of Client", err, nil)
		found <- r
	}()
	p := peer{t, there}
	for i := range messages / 2 {
		p.hear(longRequest(i))
		p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"other":"%d"}}`, i, i))
	}
	all := <-found
	used := testkit.Heap() - before
	runtime.KeepAlive(all)
	runtime.KeepAlive(tr)
	if len(all) != messages/2 { // one renamed member per response
		t.Errorf("%d differences", len(all))
	}
	return used
}

// updateLong updates a tape while all responses differ from the recorded ones.
func updateLong(t *testing.T, messages int) (used int64) {
	before := testkit.Heap()
	tr := long(t, messages, "a")
	var found []*Found
	for i := range int32(messages / 2) {
		found = append(found,
			&Found{Difference: match.Difference{Kind: match.Differs, Line: int(2*i) + 3, Pointer: "/result/sessionId", Want: []byte(`"a"`), Got: []byte(`"b"`)}, entry: 2*i + 1},
			&Found{Difference: match.Difference{Kind: match.Extra, Line: int(2*i) + 3}, entry: 2*i + 1, msg: []byte(`{"jsonrpc":"2.0","method":"more"}`)})
	}
	w := &lineCounter{}
	w.halfway = func() { used = testkit.Heap() - before }
	w.half = messages / 2 * 3 / 2
	testkit.OK(t, Update(w, tr, [][]*Found{found}))
	if w.lines != 1+messages/2*3 || w.changed != messages/2 {
		t.Errorf("%d lines, %d of them changed", w.lines, w.changed)
	}
	return used
}

// A lineCounter counts the lines, and those that contain the session b.
type lineCounter struct {
	lines, changed, half int
	halfway              func()
	rest                 []byte // the last, incomplete line
}

func (w *lineCounter) Write(b []byte) (int, error) {
	before, all := w.lines, append(w.rest, b...)
	end := bytes.LastIndexByte(all, '\n') + 1
	w.changed += bytes.Count(all[:end], []byte(`"sessionId":"b"`))
	w.rest = bytes.Clone(all[end:])
	if w.lines += bytes.Count(b, []byte("\n")); before < w.half && w.lines >= w.half {
		w.halfway()
	}
	return len(b), nil
}

// The time to match a request that differs from others only in times does not depend on the length of the tape.
func TestOnlyTimesDiffer(t *testing.T) {
	calls := 20_000
	if testkit.Race { // scripts/check also runs this test without the race detector
		calls = 2_000
	}
	var tape strings.Builder
	tape.WriteString(`{"tape":1}` + "\n")
	request := func(i, year int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"get","params":{"n":%d,"since":"%d-01-01T00:00:00Z"}}`, i, i, year)
	}
	answer := func(i int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%d}`, i, 2*i) }
	for i := range calls {
		fmt.Fprintf(&tape, `{"dir":"send","msg":%s}`+"\n"+`{"dir":"recv","msg":%s}`+"\n", request(i, 2026), answer(i))
	}
	s, err := NewServer(load(t, []byte(tape.String())), Options{Found: func(f match.Difference) { t.Error(f) }})
	testkit.OK(t, err)
	here, there := transport.Pair()
	done := make(chan error, 1)
	go func() { done <- s.Serve(t.Context(), there) }()
	p := peer{t, here}
	for i := calls - 1; i >= 0; i-- {
		p.say(request(i, 2027))
		p.hear(answer(i))
	}
	_ = here.Close()
	testkit.OK(t, <-done)
}

// Differences of one message share a copy of the value that contains them, because a message can be large.
func TestMovedDifferencesShareTheirSurroundings(t *testing.T) {
	around := []byte(`{"one":1,"two":2}`)
	found := make([]match.Difference, 3)
	for i := range found {
		found[i] = match.Difference{Moved: &match.Moved{Around: around}}
	}
	all := kept(0, found)
	for _, f := range all[1:] {
		if &f.Moved.Around[0] != &all[0].Moved.Around[0] || &f.Moved.Around[0] == &around[0] {
			t.Error("the differences have copies of their own, or none")
		}
	}
}
