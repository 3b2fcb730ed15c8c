package transport

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// late is a context whose deadline has passed and whose timer has not said so.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

// A dial that the caller's own deadline ends was not ended by --connect-timeout, whichever of
// the two is the first to notice.
func TestDialFaultNamesTheRightLimit(t *testing.T) {
	f := dialFault(late{t.Context()}, "tcp://h:1", 10*time.Second, os.ErrDeadlineExceeded)
	if strings.Contains(f.Message, "10s") || f.Hint != "" {
		t.Errorf("%s (%s)", f.Message, f.Hint)
	}
	f = dialFault(t.Context(), "tcp://h:1", 10*time.Second, os.ErrDeadlineExceeded)
	if !strings.Contains(f.Message, "no answer within 10s") {
		t.Error(f.Message)
	}
}
