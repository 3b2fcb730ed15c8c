package framing

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// A stream has bytes to read, and records the written bytes.
type stream struct {
	io.Reader
	bytes.Buffer
}

func (s *stream) Read(b []byte) (int, error) { return s.Reader.Read(b) }
func (s *stream) Close() error               { return nil }

// A scenario is the input of a framing and what Recv returns for it.
type scenario struct {
	name    string
	framing string
	in      string
	limit   int
	max     int
	depth   int
	strict  bool
	want    []string
	noise   []string
	fault   string // part of the text of the final Protocol fault; "" means io.EOF
}

// An outcome has what Recv returned until it failed.
type outcome struct {
	msgs, noise []string
	err         error
}

func (s scenario) run(t *testing.T, r io.Reader) outcome { return s.read(t, r, false) }

// read reads all messages. If together is true, it calls Buffered before each Recv.
func (s scenario) read(t *testing.T, r io.Reader, together bool) outcome {
	t.Helper()
	framing, ok := ByName(s.framing)
	if !ok {
		t.Fatalf("no framing %q", s.framing)
	}
	var got outcome
	c := framing(&stream{Reader: r}, wire.Options{
		MaxMessage: s.max, MaxDepth: s.depth, NoiseLimit: s.limit, Strict: s.strict,
		Noise: func(b []byte) { got.noise = append(got.noise, string(b)) },
	})
	for range len(s.in) + 2 {
		msg, err := c.Recv()
		if err != nil {
			got.err = err
			if _, again := c.Recv(); again != err {
				t.Errorf("after %v, Recv returned %v", err, again)
			}
			return got
		}
		read := [][]byte{msg}
		if together {
			read = c.(wire.Buffered).Buffered(read, 1+len(s.in))
		}
		for _, msg := range read {
			got.msgs = append(got.msgs, string(msg))
		}
	}
	t.Fatal("more messages than bytes")
	return got
}

func (s scenario) check(t *testing.T, got outcome, how string) {
	t.Helper()
	if !slices.Equal(got.msgs, s.want) {
		t.Errorf("%s: got %q, want %q", how, got.msgs, s.want)
	}
	if !slices.Equal(got.noise, s.noise) {
		t.Errorf("%s: noise %q, want %q", how, got.noise, s.noise)
	}
	fault := wire.AsFault(got.err)
	switch {
	case s.fault == "" && got.err != io.EOF:
		t.Errorf("%s: ends with %v, want EOF", how, got.err)
	case s.fault != "" && (fault == nil || fault.Kind != wire.Protocol || !strings.Contains(fault.Message, s.fault)):
		t.Errorf("%s: ends with %v, want a protocol fault with %q", how, got.err, s.fault)
	}
}

func TestScenarios(t *testing.T) {
	for _, s := range slices.Concat(lineScenarios, headerScenarios, nulScenarios, seqScenarios, netstringScenarios, varintScenarios, concatScenarios) {
		t.Run(s.framing+"/"+s.name, func(t *testing.T) {
			whole := func() io.Reader { return strings.NewReader(s.in) }
			s.check(t, s.run(t, whole()), "at once")
			if t.Failed() {
				return
			}
			s.check(t, s.read(t, whole(), true), "together")
			s.check(t, s.run(t, iotest.OneByteReader(whole())), "byte by byte")
			s.check(t, s.run(t, iotest.HalfReader(whole())), "by halves")
			s.check(t, s.run(t, iotest.DataErrReader(whole())), "end with the data")
			for cut := range min(len(s.in), 500) {
				if t.Failed() {
					return
				}
				two := io.MultiReader(strings.NewReader(s.in[:cut]), strings.NewReader(s.in[cut:]))
				s.check(t, s.run(t, two), fmt.Sprintf("cut at %d", cut))
			}
		})
	}
}

func TestAnySizeUpToTheLimit(t *testing.T) {
	testkit.RaceSkips(t)
	var msgs [][]byte
	for _, size := range []int{2, 1000, 63 << 10, 64<<10 - 1, 64 << 10, 64<<10 + 1, 65 << 10, 20 << 20, 10, 1 << 20, 2} {
		msgs = append(msgs, object(size))
	}
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			framing, _ := ByName(name)
			sent := &stream{Reader: strings.NewReader("")}
			out := framing(sent, wire.Options{})
			for _, msg := range msgs {
				testkit.OK(t, out.Send(msg))
			}
			for _, wrap := range []func(io.Reader) io.Reader{
				func(r io.Reader) io.Reader { return r },
				iotest.HalfReader,
				func(r io.Reader) io.Reader { return &pieces{r, 1000} },
			} {
				in := framing(&stream{Reader: wrap(bytes.NewReader(sent.Bytes()))}, wire.Options{MaxMessage: 20 << 20, NoiseLimit: 1})
				for _, want := range msgs {
					if msg, err := in.Recv(); err != nil || !bytes.Equal(msg, want) {
						t.Fatalf("%d bytes: got %d, %v", len(want), len(msg), err)
					}
				}
				if _, err := in.Recv(); err != io.EOF {
					t.Fatal(err)
				}
				if size := len(in.(*conn).in.buf); size > bufferKept {
					t.Errorf("the buffer is still %d bytes long", size)
				}
			}
		})
	}
}

// object returns a message of size bytes.
func object(size int) []byte {
	if size < 10 {
		return []byte("{}")
	}
	return []byte(`{"a":"` + strings.Repeat("x", size-8) + `"}`)
}

// pieces reads at most size bytes at a time.
type pieces struct {
	io.Reader
	size int
}

func (p *pieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(len(b), p.size)]) }

func TestOneByteOverTheLimit(t *testing.T) {
	for _, name := range Names() {
		framing, _ := ByName(name)
		sent := &stream{}
		out := framing(sent, wire.Options{})
		for _, size := range []int{100, 101} {
			testkit.OK(t, out.Send(object(size)))
		}
		in := framing(&stream{Reader: sent}, wire.Options{MaxMessage: 100})
		in.(*conn).in.src = &sent.Buffer
		if msg, err := in.Recv(); err != nil || len(msg) != 100 {
			t.Errorf("%s: %d bytes, %v", name, len(msg), err)
		}
		_, err := in.Recv()
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Protocol || !strings.Contains(f.Message, "100 bytes (--max-message)") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// endless repeats the same bytes forever.
type endless struct {
	begin string
	b     byte
	total int
}

func (e *endless) Read(b []byte) (int, error) {
	n := copy(b, e.begin)
	e.begin = e.begin[n:]
	for i := n; i < len(b); i++ {
		b[i] = e.b
	}
	e.total += len(b)
	return len(b), nil
}

func TestEndlessInputIsRefusedAtTheLimit(t *testing.T) {
	const limit = 1 << 20
	for _, c := range []struct{ framing, begin string }{
		{"line", `{"a":"`},
		{"line", `noise`},
		{"header", `Content-Length: `},
		{"header", "X-A: b\r\nX-B: "},
		{"header", "noise"},
		{"nul", `{"a":"`},
		{"nul", "noise"},
		{"seq", "\x1e{\"a\":\""},
		{"seq", "\x1etext"},
		{"seq", "noise"},
		{"netstring", "1"},
		{"netstring", "100000000000:"},
		{"netstring", "noise"},
		{"varint", "\x80"},
		{"varint", "noise"},
		{"varint", "\xff\xff\xff\xff\x0f{"},
		{"varint", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff{"},
		{"concat", `{"a":"`},
		{"concat", `noise`},
		{"concat", `{noise`},
	} {
		framing, _ := ByName(c.framing)
		src := &endless{begin: c.begin, b: 'x'}
		in := framing(&stream{Reader: src}, wire.Options{MaxMessage: limit, NoiseLimit: 10})
		_, err := in.Recv()
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Protocol {
			t.Errorf("%s %q: %v", c.framing, c.begin, err)
		}
		if src.total > 4*limit {
			t.Errorf("%s %q: %d bytes read", c.framing, c.begin, src.total)
		}
	}
}

func TestAWrongContentLengthCostsLittle(t *testing.T) {
	in := Header(&stream{Reader: strings.NewReader("Content-Length: 60000000\r\n\r\n{}")}, wire.Options{})
	if _, err := in.Recv(); wire.AsFault(err) == nil || !strings.Contains(err.Error(), "2 of 60000000 bytes") {
		t.Errorf("%v", err)
	}
	if size := len(in.(*conn).in.buf); size > bufferSize {
		t.Errorf("the buffer is %d bytes long", size)
	}
}

func TestErrorsOfTheBytesBelow(t *testing.T) {
	child := &wire.CloseError{Child: &wire.Child{Command: "x", Exit: 3}}
	fault := wire.NewFault(wire.Timeout, "too slow", nil)
	plain := errors.New("reset")
	// The beginning of a message is neither a message nor a protocol error.
	begins := map[string]string{"header": "Content-Length: 10\r\n\r\n{", "seq": "\x1e{\"a\":", "netstring": "10:{", "varint": "\x0a{"}
	for _, name := range Names() {
		framing, _ := ByName(name)
		for _, cause := range []error{child, fault, plain} {
			for _, begin := range []string{"", cmp.Or(begins[name], `{"a":`)} {
				_, err := framing(&stream{Reader: io.MultiReader(strings.NewReader(begin), iotest.ErrReader(cause))}, wire.Options{}).Recv()
				var gone *wire.CloseError
				switch {
				case cause != plain && err != cause:
					t.Errorf("%s %q: got %v, then %v", name, begin, cause, err)
				case cause == plain && (!errors.As(err, &gone) || !errors.Is(err, plain)):
					t.Errorf("%s %q: %v", name, begin, err)
				}
			}
		}
	}
	// The last line may lack its line end.
	c := Line(&stream{Reader: io.MultiReader(strings.NewReader(`{"a":1}`), iotest.ErrReader(child))}, wire.Options{})
	if msg, err := c.Recv(); err != nil || string(msg) != `{"a":1}` {
		t.Errorf("%q, %v", msg, err)
	}
	if _, err := c.Recv(); err != child {
		t.Error(err)
	}
}
