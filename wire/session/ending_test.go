package session

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestEndings(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	file := StateFile("ended")
	rememberEnding("/run/s-a", "first")
	rememberEnding("/run/s-b", strings.Repeat("é", endingWidth))
	rememberEnding("/run/s-a", "second")
	if e := endingAt("/run/s-a"); e == nil || e.Why != "second" {
		t.Errorf("a: %v", e)
	}
	if e := endingAt("/run/s-b"); e == nil || len(e.Why) > endingWidth+len("…") || !strings.HasSuffix(e.Why, "é…") {
		t.Errorf("b: %v", e)
	}
	if e := endingAt("/run/s-c"); e != nil {
		t.Errorf("c: %v", e)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	// It does not grow, and what is in it does not stay for ever.
	for i := range 2 * endingsMost {
		rememberEnding(fmt.Sprint("/run/", i), "x")
	}
	if n := len(endings(readKept(file))); n != endingsMost {
		t.Errorf("%d are kept", n)
	}
	old := []ending{{"/run/s-a", time.Now().Add(-endingLasts), "long ago"}, {"/run/s-b", time.Now(), "now"}}
	if err := os.WriteFile(file, marshal(old), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := endingAt("/run/s-a"); e != nil {
		t.Errorf("long ago: %v", e)
	}
	// With the last one the file goes; what it held that is no list is nothing.
	forgetEnding("/run/s-b")
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file is there: %v", err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	rememberEnding("/run/s-a", "after all")
	if e := endingAt("/run/s-a"); e == nil || e.Why != "after all" {
		t.Errorf("a: %v", e)
	}
}

// Many that end at once, as with their server, are all remembered.
func TestEndingsTogether(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	done := make(chan struct{})
	for i := range endingsMost {
		go func() {
			rememberEnding(fmt.Sprint("/run/", i), "x")
			done <- struct{}{}
		}()
	}
	for range endingsMost {
		<-done
	}
	if n := len(endings(readKept(StateFile("ended")))); n != endingsMost {
		t.Errorf("%d are kept", n)
	}
}

func TestEndingsNowhere(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	rememberEnding("/run/s-a", "x")
	if e := endingAt("/run/s-a"); e != nil {
		t.Error(e)
	}
}
