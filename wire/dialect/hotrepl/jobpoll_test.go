package hotrepl

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// deaf is a host that answers nothing.
type deaf struct{ dialect.Caller }

func (d deaf) Open(context.Context, dialect.Op) (dialect.Stream, error) { return d, nil }

func (deaf) Next(ctx context.Context) (wire.Message, error) {
	<-ctx.Done()
	return wire.Message{}, ctx.Err()
}

func (deaf) Cancel(context.Context) error { return nil }

// An answer about a job is waited for for 15 s.
func TestAnswersAboutJobsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		j := &following{caller: deaf{}, job: []byte(`"j"`)}
		_, err := j.ask(t.Context(), typeStatus, j.about())
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Timeout || !strings.Contains(f.Message, "within 15s") {
			t.Error(err)
		}
		if lasted := time.Since(began); lasted != 15*time.Second {
			t.Error(lasted)
		}
	})
}
