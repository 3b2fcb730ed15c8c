package player

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
	"rpcx/wire/tape/match"
	"rpcx/wire/testkit"
)

// A talk generates a random conversation.
type talk struct {
	*rand.Rand
	w      *tape.Writer
	open   [2][]string // ids of pending requests, for each side
	next   [2]int
	stream []string
}

func (k *talk) say(d wire.Direction, format string, args ...any) {
	k.w.Record(k.w.Elapsed(), 0, d, fmt.Appendf(nil, format, args...))
}

// value returns a random JSON value.
func (k *talk) value(depth int) string {
	switch n := k.IntN(8); {
	case n == 0 && depth > 0:
		return fmt.Sprintf(`{"a":%s,"b c":%s}`, k.value(depth-1), k.value(depth-1))
	case n == 1 && depth > 0:
		return fmt.Sprintf(`[%s,%s]`, k.value(depth-1), k.value(depth-1))
	case n < 4:
		return fmt.Sprint(k.IntN(5))
	case n == 4:
		return `"text \"\\\u00e9\n…"`
	case n == 5:
		return fmt.Sprintf(`"o_%d"`, k.IntN(4))
	case n == 6:
		return "1.50e3"
	}
	return "null"
}

// step adds a message to the conversation.
func (k *talk) step() {
	d := wire.Direction(k.IntN(2))
	switch n := k.IntN(10); {
	case n < 4:
		k.say(d, `%s`, k.request(d))
	case n < 7 && len(k.open[1-d]) > 0:
		k.say(d, `%s`, k.answer(d))
	case n == 7:
		k.say(d, `{"jsonrpc":"2.0","method":"n%d","params":%s}`, k.IntN(2), k.value(2))
	case n == 8 && len(k.stream) > 0 && d == wire.Recv:
		k.say(d, `{"jsonrpc":"2.0","method":"item","params":{"subscription":%s,"result":%s}}`, k.stream[k.IntN(len(k.stream))], k.value(1))
	case n == 9 && d == wire.Send:
		k.say(d, `[%s,%s]`, k.request(d), k.request(d))
	}
}

func (k *talk) request(d wire.Direction) string {
	k.next[d]++
	id := fmt.Sprint(k.next[d])
	if k.IntN(3) == 0 {
		id = fmt.Sprintf(`"%c-%d"`, "cs"[d], k.next[d])
	}
	k.open[d] = append(k.open[d], id)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"m%d","params":[%s]}`, id, k.IntN(3), k.value(2))
}

func (k *talk) answer(d wire.Direction) string {
	i := k.IntN(len(k.open[1-d]))
	id := k.open[1-d][i]
	k.open[1-d] = append(k.open[1-d][:i:i], k.open[1-d][i+1:]...)
	switch n := k.IntN(6); {
	case n == 0:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"no","data":%s}}`, id, k.value(1))
	case n == 1 && d == wire.Recv:
		k.stream = append(k.stream, fmt.Sprintf(`"0x%x"`, k.Int32()))
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, k.stream[len(k.stream)-1])
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, k.value(2))
}

// conversation returns the tape of a random conversation.
func conversation(t *testing.T, seed uint64) []byte {
	var b bytes.Buffer
	w, err := tape.NewWriter(&b, tape.Header{}, tape.Options{})
	testkit.OK(t, err)
	k := &talk{Rand: rand.New(rand.NewPCG(seed, 7)), w: w}
	for range 3 + k.IntN(30) {
		k.step()
	}
	testkit.OK(t, w.Close())
	return b.Bytes()
}

// written returns a tape after reading and writing it.
func written(t *testing.T, text []byte) []byte {
	r, err := tape.NewReader(bytes.NewReader(text), "x")
	testkit.OK(t, err)
	out := r.Header().Append(nil)
	for {
		line, err := r.Next()
		if err == io.EOF {
			return out
		}
		testkit.OK(t, err)
		out = line.Append(out)
	}
}

// recording is a connection that is recorded from the client's side.
type recording struct {
	wire.Conn
	w *tape.Writer
}

func (r recording) Send(msg []byte) error {
	r.w.Record(r.w.Elapsed(), 0, wire.Send, msg)
	return r.Conn.Send(msg)
}

func (r recording) Recv() ([]byte, error) {
	msg, err := r.Conn.Recv()
	if err == nil {
		r.w.Record(r.w.Elapsed(), 0, wire.Recv, msg)
	}
	return msg, err
}

// Recording, reading, writing and playing do not change random conversations: the played server and the played client repeat their
// messages.
func TestRandomConversations(t *testing.T) {
	for seed := range uint64(400) {
		text := conversation(t, seed)
		if again := written(t, text); !bytes.Equal(again, text) {
			t.Fatalf("seed %d: written again as\n%s\nin place of\n%s", seed, again, text)
		}
		synctest.Test(t, func(t *testing.T) { playBoth(t, seed, text) })
		if t.Failed() {
			return
		}
	}
}

func playBoth(t *testing.T, seed uint64, text []byte) {
	tr := load(t, text)
	if len(tr.Tracks) == 0 {
		return
	}
	var b bytes.Buffer
	w, err := tape.NewWriter(&b, tr.Header, tape.Options{})
	testkit.OK(t, err)
	server, client := between(t, load(t, text), tr, func(c wire.Conn) wire.Conn { return recording{c, w} })
	if len(server)+len(client) > 0 {
		t.Errorf("seed %d:\nclient: %s\nserver: %s\n%s", seed, texts(client), texts(server), text)
	}
	testkit.OK(t, w.Close())
	if differ := differences(t, load(t, text), load(t, b.Bytes())); len(differ) > 0 {
		t.Errorf("seed %d:\n%s\n%s\nbecame\n%s", seed, texts(differ), text, b.Bytes())
	}
}

// A changed member is reported by its pointer, and nothing else is reported.
func TestOneChange(t *testing.T) {
	changes := 0
	for seed := range uint64(400) {
		text := conversation(t, seed)
		lines := bytes.SplitAfter(text, []byte("\n"))
		r := rand.New(rand.NewPCG(seed, 9))
		n := 1 + r.IntN(len(lines)-1)
		line := tape.Line{}
		if err := line.ParseLine(lines[n]); err != nil || line.Dir != wire.Recv || line.Msg == nil {
			continue
		}
		request := scan.Get(line.Msg, "method") != nil
		var places []string
		parts(line.Msg, "", func(pointer string, val []byte, _ bool) {
			generated := request && pointer == "/id"
			if !generated && (scan.Type(val) == 'n' || pointer == "/method" || pointer == "/id") {
				places = append(places, pointer)
			}
		})
		if len(places) == 0 {
			continue
		}
		pointer := places[r.IntN(len(places))]
		changed := "77"
		if pointer == "/method" {
			changed = `"other"`
		}
		line.Msg = match.Replace(line.Msg, []string{pointer}, func([]byte) []byte { return []byte(changed) })
		lines[n] = line.Append(nil)
		changes++
		synctest.Test(t, func(t *testing.T) { playChanged(t, seed, text, bytes.Join(lines, nil), n+1, pointer, changed) })
		if t.Failed() {
			return
		}
	}
	if changes < 100 {
		t.Errorf("%d changes alone", changes)
	}
}

func playChanged(t *testing.T, seed uint64, text, other []byte, line int, pointer, changed string) {
	_, found := between(t, load(t, text), load(t, other))
	if len(found) != 1 || found[0].Pointer != pointer || string(found[0].Want) != changed {
		t.Errorf("seed %d: line %d %s:\n%s\n%s", seed, line, pointer, texts(found), other)
	}
	_, said, called := bytes.Cut(bytes.Split(text, []byte("\n"))[line-1], []byte(`"method"`))
	twice := called && bytes.Count(text, said) > 1 // either of them could be the changed one
	if found := differences(t, load(t, other), load(t, text)); len(found) != 1 && !twice || len(found) == 0 || found[0].Pointer != pointer {
		t.Errorf("seed %d: line %d %s:\n%s\n%s", seed, line, pointer, texts(found), other)
	}
}
