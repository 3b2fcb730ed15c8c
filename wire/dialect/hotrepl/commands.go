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

// Error returns the message.
func (e envelope) Error() string { return e.message }

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
		t.h.send(commandFailed(t.msg.ID, time.Now(), s.unknown(name)))
		return
	}
	d := summary(m).raw("inputSchema", s.schema(m.Params)).raw("outputSchema", s.schema(m.Result)).
		raw("artifactsSchema", s.schema(scan.Get(m.Extra, "artifactsSchema")))
	if value, ok := scan.Text(scan.Get(m.Extra, "cancellation")); ok {
		d = d.text("cancellation", value)
	}
	t.h.send(build(typeDescribeResult).id(t.msg.ID).raw("descriptor", d.end()).end())
}

// schema returns a schema as an object with the catalog's $defs. The specification does not allow boolean schemas.
func (s *server) schema(schema json.RawMessage) json.RawMessage {
	if scan.Type(schema) != 'o' {
		return json.RawMessage("{}")
	}
	defs := s.b.Catalog().Defs
	if len(defs) == 0 || scan.Get(schema, "$defs") != nil {
		return schema
	}
	all := scan.JSON(defs)
	var o scan.Object
	o.Inside(schema)
	o.Compact("$defs", all)
	return o.End()
}

func (s *server) unknown(name string) envelope {
	e := envelope{kindUnknown, "unknownCommand", "There is no command " + strconv.Quote(name) + ".", false, nil}
	if near := catalog.Nearest(name, s.b.Catalog().Names()); near != "" {
		e.details = build("").text("nearest", near).end()
	}
	return e
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
		s.commandDone(r, name, nil, nil, s.unknown(name))
		r.cancel(nil)
	case m != nil && isJob(m):
		s.start(r, m)
	default:
		s.queue.run(r)
		s.wg.Go(func() {
			output, files, err := s.run(r, name, string(r.msg.ID), false, nil)
			s.queue.over(r)
			s.commandDone(r, name, output, files, err)
		})
	}
}

// run runs the hook of a command and collects the hook's files, which are in a directory named after place. For a job,
// stream is true, and the output is the last data of the hook. emit receives progress and may be nil.
func (s *server) run(r *running, name, place string, stream bool, emit func(wire.Event)) (output, files json.RawMessage, err error) {
	dir, err := s.files.makeDir(place)
	if err != nil {
		return nil, nil, envelope{kindInternal, "artifactFolder", "The directory for artifacts could not be created.", false, nil}
	}
	var last json.RawMessage
	var failed error
	output, err = r.h.r.Respond(r.ctx, dialect.Request{
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
		return nil, nil, s.failure(r, name, err)
	}
	if files, err = s.files.collect(dir); err != nil {
		return nil, nil, envelope{kindInternal, "artifactUnreadable", "An artifact could not be read.", false, nil}
	}
	output = scan.OrNull(output)
	if len(output) > s.cfg.limits.MaxResultLength {
		_ = os.RemoveAll(dir)
		return nil, nil, envelope{kindInternal, codeTooLarge, "The output has " + strconv.Itoa(len(output)) + " bytes, which exceeds the limit.", false, nil}
	}
	return output, files, nil
}

// failure converts an error of a hook, a schema check or the policy to an envelope.
func (s *server) failure(r *running, name string, err error) envelope {
	if r.ctx.Err() != nil {
		return cancelledCommand
	}
	var rpc *wire.Error
	if !errors.As(err, &rpc) {
		return envelope{kindInternal, "handlerException", "The command failed.", false, nil}
	}
	retryable := string(scan.Get(rpc.Data, "retryable")) == "true" || rpc.Retryable != nil && *rpc.Retryable
	e := envelope{kindInternal, "handlerException", rpc.Message, retryable, rpc.Data}
	if e.retryable {
		e.kind = kindBusy
	}
	switch string(rpc.Code) {
	case "-32602":
		e.kind, e.code = kindValidation, "argsSchemaViolation"
	case "-32601":
		return s.unknown(name)
	case "-32001":
		e.kind, e.code = kindPrecondition, "refused"
	default:
		if code, ok := scan.Text(rpc.Code); ok {
			e.code = code
		}
	}
	if kind, ok := scan.Text(scan.Get(rpc.JSON(), "kind")); ok && slices.Contains(kinds, kind) {
		e.kind = kind
	}
	return e
}

// cancelledCommand is the error of a cancelled command.
var cancelledCommand = envelope{kindCancelled, "commandCancelled", "The command was cancelled.", false, nil}

var kinds = []string{
	kindValidation, kindPrecondition, kindConflict, kindTimeout, kindCancelled, kindBusy, kindUnknown, kindUnsupported,
	kindMissing, kindInvalid, kindInternal,
}

// commandDone answers a command_call with its output or err, and adds the call to the journal.
func (s *server) commandDone(r *running, name string, output, files json.RawMessage, err error) {
	e := entry{id: r.msg.ID, name: name, begun: r.begun, ok: err == nil}
	if failed, ok := errors.AsType[envelope](err); ok {
		e.kind = failed.kind
		s.journal.add("command", e)
		r.h.send(commandFailed(r.msg.ID, r.begun, failed))
		return
	}
	s.journal.add("command", e)
	r.h.send(build(typeCallResult).id(r.msg.ID).text("status", "ok").raw("output", output).raw("artifacts", files).duration(r.begun).end())
}

// commandFailed returns a command_result with the status failed. The specification has no other message for a failed
// command.
func commandFailed(id wire.ID, begun time.Time, e envelope) json.RawMessage {
	return build(typeCallResult).id(id).text("status", "failed").raw("artifacts", []byte("{}")).raw("error", e.json()).duration(begun).end()
}
