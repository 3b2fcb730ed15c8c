package peer_test

import (
	"errors"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/framing"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
	"rpcx/wire/transport/schemes"
)

// TestScenariosOverSockets plays the scenarios of TestScenarios over real connections, as client and as listener. It does not check
// that no message is sent, because these peers are never idle.
func TestScenariosOverSockets(t *testing.T) {
	dir := t.TempDir()
	for _, listen := range []string{
		"tcp://127.0.0.1:0", "unix:" + dir + "/s", "ws://127.0.0.1:0/", "ws+unix:" + dir + "/w:/x",
	} {
		l := listening(t, listen)
		for _, role := range []string{"dials", "listens"} {
			scheme, _, _ := strings.Cut(listen, ":")
			t.Run(scheme+" "+role, func(t *testing.T) {
				eachScenario(t, func(t *testing.T, steps string) {
					if strings.HasPrefix(steps, "with pair") || strings.HasPrefix(steps, "with bubble") {
						t.Skip("sockets cannot play this scenario")
					}
					near, far := ends(t, l)
					if role == "listens" {
						near, far = far, near
					}
					play(&stage{t: t, real: true, later: make(chan struct{}), near: near, far: far}, steps)
				})
			})
		}
	}
}

// listening listens until the end of the test.
func listening(t *testing.T, address string) transport.Listener {
	a, err := transport.Parse(address)
	testkit.OK(t, err)
	l, err := schemes.Listen(t.Context(), a, transport.Config{Framing: framing.Line})
	testkit.OK(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// ends dials l and returns both ends of the connection.
func ends(t *testing.T, l transport.Listener) (dialled, accepted wire.Conn) {
	a, err := transport.Parse(l.Endpoint())
	testkit.OK(t, err)
	done := make(chan error, 1)
	go func() {
		var err error
		accepted, err = l.Accept()
		done <- err
	}()
	dialled, err = schemes.Dial(t.Context(), a, transport.Config{Framing: framing.Line})
	testkit.OK(t, errors.Join(err, <-done))
	return dialled, accepted
}
