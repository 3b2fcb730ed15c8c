package dialect

import (
	"context"
	"errors"
	"testing"
)

func TestTakes(t *testing.T) {
	for _, c := range []struct {
		methods, method string
		want            bool
	}{
		{"", "a", true},
		{"", "", true},
		{"a", "a", true},
		{"a", "ab", false},
		{"a", "", false},
		{"a\nb", "b", true},
		{"a\nb", "c", false},
		{"a*", "a", true},
		{"a*", "ab", true},
		{"a*", "ba", false},
		{"*b", "ab", true},
		{"a*b", "ab", true},
		{"a*b", "a", false},
		{"a*b*c", "a1b2c", true},
		{"a*b*c", "a1c2b", false},
		{"aa*aa", "aaa", false},
		{"a*b*c", "ac", false},
		{"x\nt*", "tick", true},
		{"*", "a", true},
	} {
		op := &Op{Kind: Watch, Method: c.methods}
		if got := op.Takes(c.method); got != c.want {
			t.Errorf("%q takes %q: %t", c.methods, c.method, got)
		}
	}
}

type plainStream struct{ Stream }

var errCancelled = errors.New("cancelled")

func (plainStream) Cancel(context.Context) error { return errCancelled }

// Finish cancels a stream that cannot stop without losing messages.
func TestPlainStreams(t *testing.T) {
	var st Stream = plainStream{}
	if err := Finish(t.Context(), st); err != errCancelled || Waiting(st) || Severed(st) {
		t.Error(err, Waiting(st), Severed(st))
	}
}
