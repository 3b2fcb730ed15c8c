package relay

import (
	"testing"

	"go.uber.org/goleak"

	"rpcx/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func failed(err error) string {
	if f := wire.AsFault(err); f != nil {
		return "failed " + string(f.Kind)
	}
	return "failed: " + err.Error()
}
