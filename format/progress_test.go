package format

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
)

// Without a terminal, progress is at most one line per second, and none for an operation shorter than a second.
func TestProgressInAPipe(t *testing.T) {
	for _, tt := range []struct {
		json bool
		want string
	}{
		{false, "progress: 10% scan\\u001bning\nprogress: 20% scan\\u001bning\nprogress: waiting\n"},
		{true, `{"progress":{"message":"scan\u001bning","fraction":0.10}}` + "\n" + `{"progress":{"message":"scan\u001bning","fraction":0.20}}` + "\n" + `{"progress":{"message":"waiting"}}` + "\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			c := NewConsole(&out, ConsoleOptions{JSON: tt.json})
			say := func(message, fraction string) {
				c.Progress(wire.Event{Kind: wire.Progress, Message: message, Fraction: json.RawMessage(fraction)})
			}
			say("scan\x1bning", "0")
			time.Sleep(time.Second / 2)
			say("scan\x1bning", "0.05")
			if out.Len() > 0 {
				t.Errorf("at once: %s", &out)
			}
			time.Sleep(time.Second / 2)
			say("scan\x1bning", "0.10")
			say("scan\x1bning", "0.11")
			time.Sleep(time.Second)
			say("scan\x1bning", "0.20")
			time.Sleep(time.Minute)
			say("waiting", "")
			if got := out.String(); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}
