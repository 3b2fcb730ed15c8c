package peer_test

import (
	"runtime"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/peer"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// luckless is a codec that panics.
type luckless struct{ dialect.Codec }

func (luckless) Decode([]byte) ([]wire.Message, bool, error) { panic("out of luck") }

// OnDefect gets a panic from the reader's goroutine, and Go prints no trace.
func TestDefectOfTheReader(t *testing.T) {
	told := make(chan any)
	wire.OnDefect(func(what any, stack []byte) {
		told <- what
		runtime.Goexit() // a panic here would end the test's process
	})
	defer wire.OnDefect(nil)
	here, there := transport.Pair()
	peer.New(here, luckless{jsonrpc.NewCodec(jsonrpc.Options{})}, peer.Options{})
	testkit.OK(t, there.Send([]byte("{}")))
	testkit.Expect(t, "the defect", <-told, "out of luck")
}
