package peer_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer"
)

// Sending the remaining responses to a peer that has closed its sending direction takes at most a minute.
func TestOwedAnswersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, far := paired(t, peer.Options{Handler: with(func(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})})
		far.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
		synctest.Wait()
		began := time.Now()
		far.(wire.HalfCloser).CloseSend()
		<-p.Done()
		if lasted := time.Since(began); lasted < time.Minute || lasted > time.Minute+5*time.Second {
			t.Error(lasted)
		}
	})
}
