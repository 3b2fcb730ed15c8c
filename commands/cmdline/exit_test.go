package cmdline

import (
	"errors"
	"testing"

	"rpcx/wire"
)

// TestWorst checks that the most severe of several failures decides the exit status, in any order.
func TestWorst(t *testing.T) {
	// The order is that of EXIT STATUS in rpcx(1). 130 represents all signals.
	order := []int{70, 74, 130, 2, 127, 126, 6, 3, 5, 7, 124, 9, 8, 4, 1}
	kinds := map[int]wire.FaultKind{}
	for _, s := range statuses {
		kinds[s.Code] = s.Kind
	}
	for i, bad := range order {
		for _, better := range order[i+1:] {
			a, b := wire.NewFault(kinds[bad], "a", nil), wire.NewFault(kinds[better], "b", nil)
			for _, err := range []error{errors.Join(a, b), errors.Join(b, a), errors.Join(nil, errors.Join(b, a), b)} {
				if got := StatusOf(Worst(err).Kind).Code; got != bad {
					t.Errorf("errors with statuses %d and %d: got status %d", bad, better, got)
				}
			}
		}
	}
}

// TestStatuses checks that the numbers are unique and unchanged.
func TestStatuses(t *testing.T) {
	want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 70, 74, 124, 126, 127, 129, 130, 141, 143}
	for i, s := range statuses {
		if i >= len(want) || s.Code != want[i] {
			t.Errorf("row %d of the table has status %d", i, s.Code)
		}
	}
	if got := StatusOf("unknown").Code; got != 70 {
		t.Errorf("an unknown failure has status %d", got)
	}
}
