package session

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// When raw traffic ends, each reader first gets the earlier messages and then the reason. The conversation continues.
func TestEndRaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialAgain(t, Options{Shared: &Shared{Notified: func(wire.Message) {}}}, nil)
		far := c.far()
		stopped := errors.New("stopped")
		reads, waits, left := c.d.JoinRaw(), c.d.JoinRaw(), c.d.JoinRaw()
		left.Leave()
		far.says(`{"jsonrpc":"2.0","method":"news"}`)
		synctest.Wait()
		if m, _, err := waits.Recv(); err != nil || m.Method != "news" {
			t.Fatal(m.Method, err)
		}
		ended := make(chan error, 1)
		go func() {
			_, _, err := waits.Recv()
			ended <- err
		}()
		synctest.Wait()
		c.d.EndRaw(stopped)
		synctest.Wait()
		select {
		case err := <-ended:
			if err != io.EOF || waits.Err() != stopped {
				t.Errorf("%v, %v", err, waits.Err())
			}
		default:
			t.Error("Recv did not return")
		}
		if m, _, err := reads.Recv(); err != nil || m.Method != "news" {
			t.Errorf("a message that arrived before the end: %s, %v", m.Method, err)
		}
		if _, _, err := reads.Recv(); err != io.EOF || reads.Err() != stopped {
			t.Errorf("after the last message: %v, %v", err, reads.Err())
		}
		testkit.OK(t, left.Err())
		c.d.EndRaw(errors.New("again"))
		testkit.Expect(t, "the reason", reads.Err(), stopped)
		select {
		case <-c.d.Done():
			t.Error("the conversation ended:", wire.AsFault(c.d.Err()))
		default:
		}
	})
}
