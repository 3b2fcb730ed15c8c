package framing

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/testkit"
)

func FuzzLine(f *testing.F)      { fuzz(f, "line", lineScenarios) }
func FuzzHeader(f *testing.F)    { fuzz(f, "header", headerScenarios) }
func FuzzNul(f *testing.F)       { fuzz(f, "nul", nulScenarios) }
func FuzzSeq(f *testing.F)       { fuzz(f, "seq", seqScenarios) }
func FuzzNetstring(f *testing.F) { fuzz(f, "netstring", netstringScenarios) }
func FuzzVarint(f *testing.F)    { fuzz(f, "varint", varintScenarios) }
func FuzzConcat(f *testing.F)    { fuzz(f, "concat", concatScenarios) }

// fuzz checks that the result does not depend on how the input is divided, that no message exceeds the limit, and that reading ends.
func fuzz(f *testing.F, name string, seeds []scenario) {
	for i, s := range seeds {
		f.Add([]byte(s.in), uint8(i), s.limit > 0, s.strict)
	}
	f.Fuzz(func(t *testing.T, in []byte, cut uint8, noise, strict bool) {
		s := scenario{framing: name, in: string(in), max: 50, depth: 10, strict: strict}
		if noise {
			s.limit = 3
		}
		whole := s.run(t, bytes.NewReader(in))
		for _, r := range []io.Reader{
			iotest.OneByteReader(bytes.NewReader(in)),
			&pieces{bytes.NewReader(in), int(cut%16) + 1},
			bytes.NewReader(in),
		} {
			_, together := r.(*bytes.Reader)
			got := s.read(t, r, together)
			if !slices.Equal(whole.msgs, got.msgs) || !slices.Equal(whole.noise, got.noise) || (whole.err == io.EOF) != (got.err == io.EOF) {
				t.Fatalf("%q: whole %+v, in pieces %+v", in, whole, got)
			}
		}
		for _, msg := range whole.msgs {
			if len(msg) > s.max {
				t.Fatalf("%q: a message of %d bytes", in, len(msg))
			}
		}
		if len(whole.noise) > s.limit {
			t.Fatalf("%q: %d lines of noise", in, len(whole.noise))
		}
		roundTrip(t, name, in)
	})
}

// roundTrip writes in, if it is a message, and reads it back.
func roundTrip(t *testing.T, name string, in []byte) {
	t.Helper()
	msg := scan.Trim(in)
	if !opens(msg) || scan.Valid(msg, 100) != nil {
		return
	}
	framing, _ := ByName(name)
	sent := &stream{}
	out := framing(sent, wire.Options{})
	for range 3 {
		testkit.OK(t, out.Send(msg))
	}
	back := framing(&stream{Reader: strings.NewReader(sent.String())}, wire.Options{NoiseLimit: 1})
	for range 3 {
		if got, err := back.Recv(); err != nil || !scan.Equal(got, msg) {
			t.Fatalf("%q was read back as %q, %v", msg, got, err)
		}
	}
	if _, err := back.Recv(); err != io.EOF {
		t.Fatal(err)
	}
}
