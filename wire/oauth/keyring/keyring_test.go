package keyring

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestSilentKeyring checks that an operation ends although the keyring does not respond.
func TestSilentKeyring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, end := time.Now(), make(chan struct{})
		err := inTime(func() error { <-end; return nil })
		if took := time.Since(begin); err != errSilent || took != operationTimeout {
			t.Errorf("%v after %v", err, took)
		}
		close(end)
	})
}
