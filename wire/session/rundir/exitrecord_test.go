package rundir

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire/cache"
	"rpcx/wire/scan"
	"rpcx/wire/testkit"
	"rpcx/wire/xdg"
)

func TestEndings(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	file := xdg.StateFile("ended")
	RecordExit("/run/s-a", "first")
	RecordExit("/run/s-b", strings.Repeat("é", maxExitReason))
	RecordExit("/run/s-a", "second")
	testkit.Expect(t, "record of s-a", why("/run/s-a"), "second")
	if e := exitAt("/run/s-b"); e == nil || len(e.Why) > maxExitReason+len("…") || !strings.HasSuffix(e.Why, "é…") {
		t.Errorf("record of s-b: %v", e)
	}
	testkit.Expect(t, "record of s-c, which never existed", why("/run/s-c"), "")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	// The size of the file is bounded, and records expire.
	for i := range 2 * maxExitRecords {
		RecordExit(fmt.Sprint("/run/", i), "x")
	}
	testkit.Expect(t, "records", len(readExitRecords(cache.Read(file))), maxExitRecords)
	old := []exitRecord{{"/run/s-a", time.Now().Add(-exitRecordAge), "long ago"}, {"/run/s-b", time.Now(), "now"}}
	kept, _ := scan.Marshal(old)
	testkit.OK(t, os.WriteFile(file, kept, 0o600))
	testkit.Expect(t, "an expired record", why("/run/s-a"), "")
	// The file is removed with its last record. Invalid content is ignored.
	ForgetExit("/run/s-b")
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file exists after its last record was removed: %v", err)
	}
	testkit.OK(t, os.WriteFile(file, []byte("{"), 0o600))
	RecordExit("/run/s-a", "after all")
	testkit.Expect(t, "record of s-a", why("/run/s-a"), "after all")
}

// If several sessions end at the same time, for example with their server, all of them are recorded.
func TestEndingsTogether(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	done := make(chan struct{})
	for i := range maxExitRecords {
		go func() {
			RecordExit(fmt.Sprint("/run/", i), "x")
			done <- struct{}{}
		}()
	}
	for range maxExitRecords {
		<-done
	}
	testkit.Expect(t, "records", len(readExitRecords(cache.Read(xdg.StateFile("ended")))), maxExitRecords)
}

// why returns the reason in the record of a socket, or "".
func why(socket string) string {
	if e := exitAt(socket); e != nil {
		return e.Why
	}
	return ""
}

// A record is kept for a day.
func TestEndingsAreForgotten(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		RecordExit("/run/s-a", "x")
		time.Sleep(exitRecordAge)
		testkit.Expect(t, "after a day", why("/run/s-a"), "x")
		time.Sleep(time.Nanosecond)
		testkit.Expect(t, "later", why("/run/s-a"), "")
	})
}

func TestEndingsNowhere(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	RecordExit("/run/s-a", "x")
	testkit.Expect(t, "no folder", why("/run/s-a"), "")
}
