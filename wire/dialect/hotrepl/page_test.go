package hotrepl

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
	"rpcx/wire/testkit"
)

// page reads a file of messages from the specification, by type.
func page(t testing.TB, file string) map[string]json.RawMessage {
	t.Helper()
	b, err := os.ReadFile(file)
	testkit.OK(t, err)
	var all map[string]json.RawMessage
	testkit.OK(t, json.Unmarshal(b, &all))
	return all
}

// A judge checks messages with the specification's schemas.
type judge map[string]*schema.Schema

func newJudge(t testing.TB) judge {
	t.Helper()
	j := judge{}
	for name, doc := range page(t, "schemas.json") {
		s, err := schema.Compile(doc, "", schema.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		j[name] = s
	}
	return j
}

func (j judge) fits(t testing.TB, msg []byte) {
	t.Helper()
	kind, _ := scan.Text(scan.Get(msg, "type"))
	s := j[kind]
	if s == nil {
		t.Errorf("the specification has no message of type %q: %s", kind, msg)
		return
	}
	if err := s.Check(t.Context(), msg); err != nil {
		t.Errorf("%s: %v", msg, err)
	}
}

// The specification's examples match its schemas.
func TestPage(t *testing.T) {
	j := newJudge(t)
	for name, example := range page(t, "testdata/examples.json") {
		if err := j[name].Check(t.Context(), example); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A client writes the specification's examples, except for their ids.
func TestClientExamples(t *testing.T) {
	examples, j := page(t, "testdata/examples.json"), newJudge(t)
	o := func(s string) json.RawMessage { return json.RawMessage(s) }
	watch := dialect.Op{Kind: dialect.Subscribe, Method: "subscribe", Code: "Time.frameCount", Extra: o(`{"intervalFrames":1,"limit":10}`)}
	for kind, op := range map[string]dialect.Op{
		typeEval:      {Kind: dialect.Eval, Method: "eval", Code: "1 + 1", Extra: o(`{"timeoutMs":10000}`)},
		typeComplete:  {Kind: dialect.Eval, Method: "complete", Code: "UnityEngine.Application.pro"},
		typeReset:     {Kind: dialect.Eval, Method: "reset"},
		typeSubscribe: watch,
		typeCancel:    {Kind: dialect.Unsubscribe, Of: &watch, OfID: wire.ID(`"watch-1"`)},
		typeList:      {Kind: dialect.Internal, Method: typeList},
		typeDescribe:  {Kind: dialect.Internal, Method: typeDescribe, Params: o(`{"name":"archive.preflight"}`)},
		typeCall:      {Kind: dialect.Call, Method: "archive.preflight"},
		typeStatus:    {Kind: dialect.Internal, Method: typeStatus, Params: o(`{"jobId":"job-1"}`)},
		typeJobCancel: {Kind: dialect.Internal, Method: typeJobCancel, Params: o(`{"jobId":"job-1"}`)},
		typeJournal:   {Kind: dialect.Internal, Method: typeJournal, Params: o(`{"kind":"command","limit":20}`)},
	} {
		m, err := NewCodec(dialect.CodecOptions{}).Encode(op)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		j.fits(t, m.Raw)
		got := scan.Splice(m.Raw, "id", scan.Get(examples[kind], "id"))
		if !scan.Equal(got, examples[kind]) {
			t.Errorf("got  %s\nwant %s", got, examples[kind])
		}
	}
}

// A host sends the specification's examples of events.
func TestHostExamples(t *testing.T) {
	examples := page(t, "testdata/examples.json")
	for kind, want := range map[string]string{
		typeEvalResult:      `{"event":"data","data":"2","extra":{"valueType":"System.Int32","durationMs":3}}`,
		typeEvalError:       `{"event":"error","code":"runtimeException","kind":"internal","message":"NullReferenceException: Object reference not set to an instance of an object.","retryable":false}`,
		typeCompleteResult:  `{"event":"data","data":["productName","productVersion","platform"],"extra":{"durationMs":5}}`,
		typeResetResult:     `{"event":"data","data":true}`,
		typeTick:            `{"event":"data","data":"42","seq":0,"extra":{"valueType":"System.Int32","durationMs":3}}`,
		typeTickError:       `{"event":"error","code":"evalTimeout","kind":"timeout","message":"Eval timed out after 10000 ms.","retryable":false,"seq":0}`,
		typeListResult:      `{"event":"data","data":[{"name":"archive.preflight","majorVersion":1,"kind":"sync","mutatesState":false},{"name":"archive.export","majorVersion":1,"kind":"job","mutatesState":true}]}`,
		typeDescribeResult:  `{"event":"data","data":` + string(scan.Get(examples[typeDescribeResult], "descriptor")) + `}`,
		typeCallResult:      `{"event":"data","data":{"ok":true},"extra":{"status":"ok","artifacts":{},"durationMs":12}}`,
		typeJobAccepted:     `{"event":"progress","message":"running","job":"job-1","extra":{"state":"running"}}`,
		typeStatusResult:    `{"event":"progress","message":"running","job":"job-1","extra":{"state":"running"}}`,
		typeJobResult:       `{"event":"data","data":{"itemsExported":1500},"job":"job-1","extra":{"state":"done","status":"ok","artifacts":{},"durationMs":1842}}`,
		typeJobCancelResult: `{"event":"data","data":{"accepted":true,"state":"running"}}`,
		typeJournalResult:   `{"event":"data","data":` + string(scan.Get(examples[typeJournalResult], "entries")) + `}`,
		typeReload:          `{"event":"log","level":"info","message":"Assembly reload complete.","extra":{"assembly":"HotRepl.Plugin.dll"}}`,
	} {
		c := NewCodec(dialect.CodecOptions{}).(*codec)
		asked := sent{raw: true, all: true}
		if kind == typeTick || kind == typeTickError {
			asked.kind = typeSubscribe
		}
		c.sent[string(scan.Get(examples[kind], "id"))] = asked
		_, ev := decoded(t, c, string(examples[kind]))
		if got := string(ev.AppendJSON(nil)); !scan.Equal([]byte(got), []byte(want)) {
			t.Errorf("%s\ngot  %s\nwant %s", kind, got, want)
		}
	}
}

// A response with an unknown id, of any type, is dropped.
func TestResponsesWithUnknownIDs(t *testing.T) {
	for kind, example := range page(t, "testdata/examples.json") {
		if kind == typeHandshake || !strings.Contains(string(example), `"id"`) || strings.Contains(strings.ToLower(kind), "entry") {
			continue
		}
		if m, _ := decoded(t, NewCodec(dialect.CodecOptions{}), string(example)); m.Kind != wire.Notification {
			t.Errorf("%s: %+v", kind, m)
		}
	}
}
