package hotrepl

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// list answers a commands_list with summaries of all commands.
func (s *server) list(t task) {
	var all scan.Array
	for i := range s.b.Catalog().Methods {
		all.Add(summary(&s.b.Catalog().Methods[i]).end())
	}
	t.h.send(build(typeListResult).id(t.msg.ID).raw("commands", all.End()).end())
}

// summary returns the start of a command's entry in a list or a descriptor.
func summary(m *catalog.Method) builder {
	kind, major := "sync", scan.Get(m.Extra, "majorVersion")
	if isJob(m) {
		kind = "job"
	}
	if scan.Type(major) != 'n' {
		major = []byte("1")
	}
	return build("").text("name", m.Name).raw("majorVersion", major).text("kind", kind).
		bool("mutatesState", string(scan.Get(m.Extra, "mutatesState")) == "true")
}

// isJob reports whether a client starts the command and polls its status. A streaming method is also a job, whose output
// is the last item.
func isJob(m *catalog.Method) bool { return m.Kind == catalog.Job || m.Kind == catalog.Stream }

// describe answers a command_describe with the command's descriptor.
func (s *server) describe(t task) {
	name, _ := scan.Text(scan.Get(t.msg.Raw, "name"))
	m := s.b.Catalog().Method(name)
	if m == nil {
		t.h.send(outcome{err: s.unknown(name)}.message(t.msg.ID, time.Now()))
		return
	}
	d := summary(m).raw("inputSchema", s.schema(m.Params)).raw("outputSchema", s.schema(m.Result)).
		raw("artifactsSchema", s.schema(scan.Get(m.Extra, "artifactsSchema")))
	if value, ok := scan.Text(scan.Get(m.Extra, "cancellation")); ok {
		d = d.text("cancellation", value)
	}
	t.h.send(build(typeDescribeResult).id(t.msg.ID).raw("descriptor", d.end()).end())
}

// schema returns a schema as an object with the definitions that it uses. The specification does not allow boolean
// schemas.
func (s *server) schema(schema json.RawMessage) json.RawMessage {
	if scan.Type(schema) != 'o' {
		return json.RawMessage("{}")
	}
	return s.b.Catalog().WithDefs(schema)
}

func (s *server) unknown(name string) *wire.Error {
	return dialect.WithNearest(newError(kindUnknown, "unknownCommand", "There is no command "+strconv.Quote(name)+"."), name, s.b.Catalog().Names())
}

// command runs a command_call. It accepts a job at once. It answers any other command when the command's hook ends. A
// command that only a hook's pattern matches is not a job.
func (s *server) command(t task) {
	name, _ := scan.Text(scan.Get(t.msg.Raw, "name"))
	r := newRunning(t)
	_, ok := t.h.r.Kind(name)
	m := s.b.Catalog().Method(name)
	switch {
	case !ok:
		s.commandDone(r, name, outcome{err: s.unknown(name)})
		r.cancel()
	case m != nil && isJob(m):
		s.start(r, m)
	default:
		s.queue.run(r)
		s.wg.Go(func() {
			done := s.run(r, name, string(r.msg.ID), false, nil)
			s.queue.over(r)
			s.commandDone(r, name, done)
		})
	}
}

// An outcome is how a command ended: with its output and its files, or with an error.
type outcome struct {
	output, files json.RawMessage
	err           *wire.Error
}

// addTo adds the outcome to a command_result or job_result.
func (o outcome) addTo(b builder) builder {
	if o.err == nil {
		return b.text("status", "ok").raw("output", o.output).raw("artifacts", o.files)
	}
	return b.text("status", "failed").raw("artifacts", []byte("{}")).raw("error", errorJSON(o.err))
}

// message returns the command_result for the command_call with that id.
func (o outcome) message(id wire.ID, begun time.Time) json.RawMessage {
	return o.addTo(build(typeCallResult).id(id)).duration(begun).end()
}

// run runs the hook of a command and collects the hook's files, which are in a directory named after place. For a job,
// stream is true, and the output is the last data of the hook. emit receives progress and may be nil.
func (s *server) run(r *running, name, place string, stream bool, emit func(wire.Event)) outcome {
	dir, err := s.files.makeDir(place)
	if err != nil {
		return outcome{err: newError(kindInternal, "artifactFolder", "The directory for artifacts could not be created.")}
	}
	var last json.RawMessage
	var failed error
	output, err := r.h.r.Respond(r.ctx, dialect.Request{
		Method: name, Params: scan.Get(r.msg.Raw, "args"), ID: r.msg.ID, Stream: stream,
		Vars: map[string]string{"RPCX_ARTIFACTS": dir},
		Emit: func(ev wire.Event) error {
			switch ev.Kind {
			case wire.Data:
				last, failed = append(json.RawMessage(nil), ev.Data...), nil
			case wire.Failure:
				failed = ev.Err.Clone()
			case wire.Progress:
				if emit != nil {
					emit(ev)
				}
			}
			return nil
		},
	})
	if stream || output == nil {
		output = last
	}
	err = cmp.Or(err, failed)
	if err != nil {
		_ = os.RemoveAll(dir) // a failed command has no files
		return outcome{err: s.failure(r, name, err)}
	}
	files, err := collect(dir)
	if err != nil {
		return outcome{err: newError(kindInternal, "artifactUnreadable", "An artifact could not be read.")}
	}
	output = scan.OrNull(output)
	if len(output) > s.cfg.limits.MaxResultLength {
		_ = os.RemoveAll(dir)
		return outcome{err: newError(kindInternal, codeTooLarge, "The output has "+strconv.Itoa(len(output))+" bytes, which exceeds the limit.")}
	}
	return outcome{output: output, files: files}
}

// failure converts an error of a hook, a schema check or the policy to an error for the client.
func (s *server) failure(r *running, name string, err error) *wire.Error {
	rpc, ok := errors.AsType[*wire.Error](err)
	switch {
	case r.ctx.Err() != nil:
		return cancelledCommand
	case !ok:
		return newError(kindInternal, "handlerException", "The command failed.")
	}
	e := newError(kindInternal, "handlerException", rpc.Message)
	e.Data = rpc.Data
	if string(scan.Get(rpc.Data, "retryable")) == "true" || rpc.Retryable != nil && *rpc.Retryable {
		e.Kind, e.Retryable = kindBusy, new(true)
	}
	switch string(rpc.Code) {
	case "-32602":
		e.Kind, e.Code = kindValidation, json.RawMessage(`"argsSchemaViolation"`)
	case "-32601":
		return s.unknown(name)
	case "-32001":
		e.Kind, e.Code = kindPrecondition, json.RawMessage(`"refused"`)
	default:
		if scan.Type(rpc.Code) == 's' {
			e.Code = rpc.Code
		}
	}
	if kind := scan.String(scan.Get(rpc.JSON(), "kind")); slices.Contains(kinds, kind) {
		e.Kind = kind
	}
	return e
}

// cancelledCommand is the error of a cancelled command.
var cancelledCommand = newError(kindCancelled, "commandCancelled", "The command was cancelled.")

// busy returns an error for a request that the client may repeat.
func busy(code, message string) *wire.Error {
	e := newError(kindBusy, code, message)
	e.Retryable = new(true)
	return e
}

var kinds = []string{
	kindValidation, kindPrecondition, kindConflict, kindTimeout, kindCancelled, kindBusy, kindUnknown, kindUnsupported,
	kindMissing, kindInvalid, kindInternal,
}

// commandDone answers a command_call, and adds the call to the journal.
func (s *server) commandDone(r *running, name string, done outcome) {
	s.journal.add(r.entry(name, done))
	r.h.send(done.message(r.msg.ID, r.begun))
}

// entry returns the journal's entry for a command.
func (r *running) entry(name string, done outcome) entry {
	e := entry{kind: "command", id: r.msg.ID, name: name, begun: r.begun}
	if done.err != nil {
		e.failure = done.err.Kind
	}
	return e
}
