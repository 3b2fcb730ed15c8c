package hotrepl

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rpcx/wire/scan"
	"rpcx/wire/testkit"
)

// unequal are members whose values differ between runs.
var unequal = []string{"valueType", "seq", "durationMs", "timestamp"}

// masked returns a decoded value in which the name of a type replaces each value that differs between runs, and each
// value whose path is in but. value can also differ in type.
func masked(path string, val any, but []string) any {
	name := path[strings.LastIndexByte(path, '.')+1:]
	switch {
	case name == "value":
		return nil
	case slices.Contains(unequal, name), slices.Contains(but, path):
		return fmt.Sprintf("%T", val)
	}
	switch val := val.(type) {
	case map[string]any:
		for key := range val {
			val[key] = masked(strings.TrimPrefix(path+"."+key, "."), val[key], but)
		}
	case []any:
		for i := range val {
			val[i] = masked(path, val[i], but)
		}
	}
	return val
}

// exampled are the specification's examples, and the members in which rpcx's host must equal them.
type exampled struct {
	t        *testing.T
	examples map[string]json.RawMessage
}

// is compares got with the specification's example, except for the members in but.
func (e exampled) is(got []byte, name string, but ...string) {
	e.t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		e.t.Fatalf("%s: %v: %s", name, err, got)
	}
	testkit.OK(e.t, json.Unmarshal(e.examples[name], &w))
	if !reflect.DeepEqual(masked("", g, but), masked("", w, but)) {
		e.t.Errorf("%s\ngot  %s\nwant %s, except %q", name, got, e.examples[name], but)
	}
}

// asks sends an example request from the specification. members has the names and values of the members to replace.
func (e exampled) asks(g guestOf, name string, members ...string) {
	e.t.Helper()
	msg := []byte(e.examples[name])
	for i := 0; i < len(members); i += 2 {
		msg = scan.Splice(msg, members[i], scan.AppendQuoted(nil, members[i+1]))
	}
	g.j.fits(e.t, msg)
	testkit.OK(e.t, g.c.Send(msg))
}

// answered returns a row for an example response: the request asked with the members in replaced gets it, except for the
// members in but.
func answered(name, asked string, replaced []string, but ...string) func(e exampled, s *server, g guestOf) {
	return func(e exampled, _ *server, g guestOf) {
		e.asks(g, asked, replaced...)
		e.is([]byte(g.recv()), name, but...)
	}
}

// starts starts the job from the specification's example, and returns its id.
func (e exampled) starts(g guestOf) (job string) {
	e.asks(g, typeCall, "name", "archive.export")
	got := []byte(g.recv())
	e.is(got, typeJobAccepted, "jobId")
	job, _ = scan.Text(scan.Get(got, "jobId"))
	return job
}

// rpcx's host responds to each example request with the example response.
func TestHostIsThePage(t *testing.T) {
	rows := map[string]func(e exampled, s *server, g guestOf){
		typeHandshake: func(e exampled, s *server, g guestOf) {
			other := connect(e.t, s, g.j)
			defer other.c.Close()
			e.is([]byte(other.recv()), typeHandshake, "host.platform", "evaluator.cancellation", "defaultUsings", "helpers", "control.schemaValidation")
		},
		typeEvicted: func(e exampled, s *server, g guestOf) {
			other := connect(e.t, s, g.j)
			defer other.c.Close()
			other.recv()
			e.is([]byte(g.recv()), typeEvicted)
		},
		typeReload: func(e exampled, s *server, g guestOf) {
			s.Reload()
			e.is([]byte(g.recv()), typeReload, "assembly", "message")
		},
		typeError: func(e exampled, _ *server, g guestOf) {
			g.play(`> {"type":`)
			e.is([]byte(g.recv()), typeError, "error.message")
		},
		typeEvalResult:     answered(typeEvalResult, typeEval, nil),
		typeEvalError:      answered(typeEvalError, typeEval, []string{"code", "null.x"}, "error.message"),
		typeCompleteResult: answered(typeCompleteResult, typeComplete, nil, "completions"),
		typeResetResult:    answered(typeResetResult, typeReset, nil),
		typeListResult:     answered(typeListResult, typeList, nil, "commands"),
		typeDescribeResult: answered(typeDescribeResult, typeDescribe, nil),
		typeCallResult:     answered(typeCallResult, typeCall, nil),
		typeTick: func(e exampled, _ *server, g guestOf) {
			e.asks(g, typeSubscribe, "code", "count")
			for range 9 {
				e.is([]byte(g.recv()), typeTick)
			}
			last := g.recv()
			e.is([]byte(last), typeTick, "final")
			if string(scan.Get([]byte(last), "final")) != "true" {
				e.t.Errorf("not the last message: %s", last)
			}
		},
		typeTickError: func(e exampled, _ *server, g guestOf) {
			e.asks(g, typeSubscribe, "code", "wait")
			e.is([]byte(g.recv()), typeTickError, "final")
			e.is([]byte(g.recv()), typeTickError, "final")
			e.is([]byte(g.recv()), typeTickError)
		},
		typeCancel: func(e exampled, _ *server, g guestOf) { // gets no response
			e.asks(g, typeSubscribe, "code", "wait")
			g.play("= 100ms")
			e.asks(g, typeCancel)
			e.asks(g, typeEval)
			e.is([]byte(g.recv()), typeEvalResult)
		},
		typeJobAccepted: func(e exampled, _ *server, g guestOf) { e.starts(g) },
		typeStatusResult: func(e exampled, _ *server, g guestOf) {
			e.asks(g, typeStatus, "jobId", e.starts(g))
			got := []byte(g.recv())
			if scan.Get(got, "progress") == nil {
				e.t.Errorf("no progress: %s", got)
			}
			e.is([]byte(strings.Replace(string(got), `,"progress":`+string(scan.Get(got, "progress")), "", 1)), typeStatusResult, "jobId")
		},
		typeJobResult: func(e exampled, _ *server, g guestOf) {
			job := e.starts(g)
			g.play("= 2s")
			e.asks(g, typeStatus, "jobId", job, "id", "status-2")
			e.is([]byte(g.recv()), typeJobResult, "jobId")
		},
		typeJobCancelResult: func(e exampled, _ *server, g guestOf) {
			e.asks(g, typeJobCancel, "jobId", e.starts(g))
			e.is([]byte(g.recv()), typeJobCancelResult)
		},
		typeJournalResult: func(e exampled, _ *server, g guestOf) {
			e.asks(g, typeCall)
			g.recv()
			e.asks(g, typeJournal)
			e.is([]byte(g.recv()), typeJournalResult)
		},
		"JournalEntry": func(e exampled, _ *server, g guestOf) {
			e.asks(g, typeEval)
			g.recv()
			g.play(`> {"type":"journal_query","id":"q","kind":"eval"}`)
			entries := scan.ReadArray(scan.Get([]byte(g.recv()), "entries"), 10)
			_, entry, _ := entries.Next()
			e.is(entry, "JournalEntry")
		},
		"CommandDescriptor": func(e exampled, _ *server, g guestOf) {
			e.asks(g, typeDescribe)
			e.is(scan.Get([]byte(g.recv()), "descriptor"), "CommandDescriptor")
		},
		"ErrorEnvelope": func(e exampled, _ *server, g guestOf) {
			g.play(`> {"type":"command_call","id":"a","name":"archive.preflight","args":{"fail":"path"}}`)
			e.is(scan.Get([]byte(g.recv()), "error"), "ErrorEnvelope", "code", "message")
		},
		"ArtifactRef": func(e exampled, _ *server, g guestOf) {
			g.play(`> {"type":"command_call","id":"a","name":"archive.preflight","args":{"write":"items.json"}}`)
			e.is(scan.Get(scan.Get([]byte(g.recv()), "artifacts"), "items.json"), "ArtifactRef", "uri", "path", "sha256", "byteSize")
		},
	}
	examples := page(t, "testdata/examples.json")
	for name := range examples {
		if rows[name] == nil && (name == typeCancel || !isClientType(name)) {
			t.Errorf("no test for the example %s", name)
		}
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			host(t, backend{r: &engine{}}, func(s *server, g guestOf) { row(exampled{g.t, examples}, s, g) })
		})
	}
}
