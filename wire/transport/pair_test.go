package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

func wantClean(t *testing.T, err error) {
	t.Helper()
	var c *wire.CloseError
	if !errors.As(err, &c) || !c.Clean {
		t.Fatalf("got %v, want a clean *wire.CloseError", err)
	}
}

func TestPairCarriesMessagesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair()
		go func() {
			for i := range 1000 {
				a.Send(fmt.Appendf(nil, "%d", i))
			}
			a.Close()
		}()
		for i := range 1000 {
			testkit.Expect(t, "the next message", testkit.Recv(t, b), fmt.Sprint(i))
		}
		_, err := b.Recv()
		wantClean(t, err)
		wantClean(t, b.Send([]byte("late")))
	})
}

func TestPairSendWaitsForTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair()
		sent := 0
		go func() {
			for range 2 * pairMessages {
				if a.Send([]byte("x")) != nil {
					return
				}
				sent++
			}
		}()
		synctest.Wait()
		if sent != pairMessages {
			t.Fatalf("%d messages were sent without a reader, want %d", sent, pairMessages)
		}
		b.Recv()
		synctest.Wait()
		if sent != pairMessages+1 {
			t.Fatalf("%d messages were sent after one was read", sent)
		}
		b.Close()
		synctest.Wait() // Close must wake Send, or the bubble reports a deadlock
	})
}

func TestPairBoundsBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair()
		huge := bytes.Repeat([]byte("x"), 3*pairBytes)
		sent := 0
		go func() {
			for range 3 {
				a.Send(huge)
				sent++
			}
		}()
		for i := range 3 {
			synctest.Wait()
			if sent != i+1 {
				t.Fatalf("%d huge messages were sent, want %d", sent, i+1)
			}
			testkit.Expect(t, "the length", len(testkit.Recv(t, b)), len(huge))
		}
	})
}

func TestPairHalfClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair()
		a.Send([]byte("last"))
		a.(wire.HalfCloser).CloseSend()
		wantClean(t, a.Send([]byte("later")))
		testkit.Expect(t, "the last message", testkit.Recv(t, b), "last")
		if _, err := b.Recv(); err != io.EOF {
			t.Fatalf("after half-close: %v, want io.EOF", err)
		}
		b.Send([]byte("answer"))
		b.Close()
		testkit.Expect(t, "the response", testkit.Recv(t, a), "answer")
		_, err := a.Recv()
		wantClean(t, err)
		a.Close()
		_, err = b.Recv()
		wantClean(t, err)
	})
}

func TestPairCloseUnblocksRecv(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := Pair()
		done := make(chan error)
		go func() { _, err := a.Recv(); done <- err }()
		synctest.Wait()
		a.Close()
		a.Close()
		wantClean(t, <-done)
	})
}

func TestPairReportsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pair()
		idle := 0
		b.(wire.Idler).OnIdle(func() { idle++ })
		a.Send([]byte("1"))
		a.Send([]byte("2"))
		b.Recv()
		b.Recv()
		if idle != 0 {
			t.Fatal("OnIdle was called although messages were pending")
		}
		go b.Recv()
		synctest.Wait()
		if idle != 1 {
			t.Fatalf("OnIdle was called %d times, want 1", idle)
		}
		a.Close()
	})
}

func TestPairLendsBytesUntilTheNextRecv(t *testing.T) {
	a, b := Pair()
	a.Send([]byte("first"))
	got, _ := b.Recv()
	for range pairMessages {
		a.Send([]byte("other"))
	}
	if string(got) != "first" {
		t.Fatalf("the bytes changed to %q before the next Recv", got)
	}
	msg := []byte("mine")
	b.Recv()
	a.Send(msg)
	copy(msg, "xxxx")
	for range pairMessages - 1 {
		b.Recv()
	}
	if got, _ := b.Recv(); string(got) != "mine" {
		t.Fatalf("Send kept the caller's bytes: %q", got)
	}
}

func TestPairDoesNotAllocate(t *testing.T) {
	a, b := Pair()
	msg := bytes.Repeat([]byte("x"), 240)
	for range 2 * pairMessages {
		a.Send(msg)
		b.Recv()
	}
	testkit.Expect(t, "allocations per message", testing.AllocsPerRun(100, func() { a.Send(msg); b.Recv() }), 0)
}
