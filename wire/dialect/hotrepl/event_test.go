package hotrepl

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// A job's progress can be any JSON value. The event's fraction is computed from its members.
func TestProgress(t *testing.T) {
	for _, tt := range []struct{ progress, message, fraction string }{
		{`0.25`, "running", `0.25`},
		{`1`, "running", `1`},
		{`40`, "running", `0.4`},
		{`"scanning"`, "scanning", ``},
		{`{"message":"scanning","fraction":0.50}`, "scanning", `0.50`},
		{`{"stage":"scanning","progress":0.5}`, "scanning", `0.5`},
		{`{"percent":40}`, "running", `0.4`},
		{`{"percent":1}`, "running", `0.01`},
		{`{"percentage":33.3,"phase":"b"}`, "b", `0.333`},
		{`{"progress":75}`, "running", `0.75`},
		{`{"percent":120}`, "running", `1`},
		{`{"percent":-1}`, "running", ``},
		{`{"current":3,"total":12}`, "running", `0.25`},
		{`{"done":3,"total":4}`, "running", `0.75`},
		{`{"done":true,"total":4}`, "running", ``},
		{`{"done":3,"total":0}`, "running", ``},
		{`[1]`, "running", ``},
		{`{"message":"","stage":"scanning"}`, "scanning", ``},
		{`{"message":7,"stage":null,"phase":"b"}`, "b", ``},
	} {
		c := NewCodec(dialect.CodecOptions{}).(*codec)
		_, ev := decoded(t, c, `{"type":"job_status_result","id":"`+c.prefix+`1","jobId":"j","state":"running","progress":`+tt.progress+`}`)
		if ev.Kind != wire.Progress || ev.Message != tt.message || string(ev.Fraction) != tt.fraction || string(ev.Data) != tt.progress {
			t.Errorf("%s: %v, message %q, fraction %q, data %s", tt.progress, ev.Kind, ev.Message, ev.Fraction, ev.Data)
		}
	}
}

// A reload becomes a log event with the members of the message.
func TestReloadEvent(t *testing.T) {
	for _, tt := range []struct{ members, message, extra string }{
		{`"message":"Reloaded.","assembly":"A"`, "Reloaded.", `{"assembly":"A"}`},
		{`"message":""`, "assembly_reload", ``},
		{`"message":null`, "assembly_reload", ``},
		{`"assembly":"A"`, "assembly_reload", `{"assembly":"A"}`},
	} {
		_, ev := decoded(t, NewCodec(dialect.CodecOptions{}), `{"type":"assembly_reload",`+tt.members+`}`)
		if ev.Kind != wire.Log || ev.Level != "info" || ev.Message != tt.message || string(ev.Extra) != tt.extra {
			t.Errorf("%s: %v %s %q, %s", tt.members, ev.Kind, ev.Level, ev.Message, ev.Extra)
		}
	}
}

// deaf is a host that sends no responses.
type deaf struct{ dialect.Caller }

func (d deaf) Open(context.Context, dialect.Op) (dialect.Stream, error) { return d, nil }

func (deaf) Next(ctx context.Context) (wire.Message, error) {
	<-ctx.Done()
	return wire.Message{}, ctx.Err()
}

func (deaf) Cancel(context.Context) error { return nil }

// The wait for a response about a job ends after 15 s.
func TestAnswersAboutJobsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for kind, hint := range map[string]string{typeStatus: "hosts do not answer requests about an unknown job", typeJournal: ""} {
			began := time.Now()
			j := &following{caller: deaf{}, job: []byte(`"j"`)}
			_, err := j.ask(t.Context(), kind, j.about())
			if f := wire.AsFault(err); f == nil || f.Kind != wire.Timeout || !strings.Contains(f.Message, "within 15s") || f.Hint != hint {
				t.Error(kind, err)
			}
			if lasted := time.Since(began); lasted != 15*time.Second {
				t.Error(kind, lasted)
			}
		}
	})
}

func TestProgressOfAHook(t *testing.T) {
	for _, c := range []struct{ message, fraction, want string }{
		{"packing", "", `"packing"`}, {"", "0.50", "0.50"}, {"packing", "0.50", `{"message":"packing","fraction":0.50}`},
	} {
		ev := wire.Event{Message: c.message}
		if c.fraction != "" {
			ev.Fraction = json.RawMessage(c.fraction)
		}
		if got := string(progress(ev)); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
