package hotrepl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Decode finds the message in raw. On a client, an eviction ends the connection.
func (c *codec) Decode(raw []byte) ([]wire.Message, bool, error) {
	out := c.out[:0]
	if c.host {
		return append(out, c.clientMessage(raw)), false, nil
	}
	m, bad := c.read(raw)
	if bad {
		return append(out, m), false, nil
	}
	if m.Method == typeEvicted {
		return append(out, m), false, evictedFault(raw)
	}
	c.classify(&m)
	if m.Err == nil && (m.Method == typeEvalResult || m.Method == typeTick) && m.Kind != wire.Notification {
		out = besideValue(out, m)
	}
	return append(out, m), false, nil
}

// read finds the type and the id of a message. bad reports invalid JSON or a missing type; m is then Invalid.
func (c *codec) read(raw []byte) (m wire.Message, bad bool) {
	m = wire.Message{Kind: wire.Invalid, Raw: raw}
	if err := scan.Valid(raw, c.depth); err != nil {
		m.Err = wire.NewError(wire.CodeParse, "not JSON: "+err.Error())
		return m, true
	}
	kind, ok := scan.Text(scan.Get(raw, "type"))
	if !ok {
		m.Err = wire.NewError(wire.CodeInvalidRequest, "a hotrepl message must be an object with a type")
		return m, true
	}
	m.Kind, m.Method = wire.Notification, kind
	if id := scan.Get(raw, "id"); scan.Type(id) == 's' {
		m.ID = wire.ID(id)
	}
	return m, false
}

// classify determines the kind of a host's message. A response with an unknown id stays a notification, because after
// an eviction, a host sends the evicted client's responses to the new client.
func (c *codec) classify(m *wire.Message) {
	switch m.Method {
	case typeHandshake:
		m.Kind, m.Body, m.ID = wire.Handshake, m.Raw, nil
		c.max = number(scan.Get(scan.Get(m.Raw, "limits"), "maxMessageBytes"))
		c.handshake.Store(new(json.RawMessage(bytes.Clone(m.Raw))))
		c.catalogs.Clear()
	case typeReload:
		m.Body, m.Params, m.ID = m.Raw, m.Raw, nil
		c.catalogs.Clear() // the reload may have changed the commands
	case typeError:
		m.Kind, m.Err = wire.Response, readError(scan.Get(m.Raw, "error"))
		if string(m.ID) == `""` { // from hosts that could not read the id
			m.ID = nil
		}
		if m.ID != nil && !c.isOwn(m.ID, true) {
			m.Kind, m.Err = wire.Notification, nil
		}
	case typeTick, typeTickError:
		c.tick(m)
	default:
		if _, answers := bodies[m.Method]; answers {
			c.answer(m)
		}
	}
}

// isOwn reports whether the client sent a message with that id. last means that the response is the last one. The codec
// then forgets the message.
func (c *codec) isOwn(id wire.ID, last bool) bool {
	m := c.sent[string(id.Key())]
	if last || m.raw && !m.all {
		delete(c.sent, string(id.Key()))
	}
	return m.raw || strings.HasPrefix(string(id), `"`+c.prefix)
}

func (c *codec) tick(m *wire.Message) {
	asked := c.sent[string(m.ID.Key())]
	m.Final = string(scan.Get(m.Raw, "final")) == "true"
	if !c.isOwn(m.ID, m.Final) {
		m.Final = false
		return
	}
	if asked.kind != "" && !asked.raw && asked.kind != typeSubscribe {
		m.Final = true
		malformedAnswer(m, m.Method+" is not a response to "+asked.kind)
		return
	}
	m.Kind, m.Params = wire.Item, m.Raw
	if asked.isWatch() && !asked.all { // the first tick answers an endless raw subscription
		m.Kind, m.Final = wire.Response, true
	}
	if m.Method == typeTickError {
		m.Err = readError(scan.Get(m.Raw, "error"))
		return
	}
	m.Body = value(m.Raw)
}

func (c *codec) answer(m *wire.Message) {
	asked := c.sent[string(m.ID.Key())]
	if m.ID == nil || !c.isOwn(m.ID, true) {
		return
	}
	m.Kind, m.Final = wire.Response, true
	if asked.kind != "" && !asked.raw && !answersTo(asked.kind, m) {
		malformedAnswer(m, m.Method+" is not a response to "+asked.kind)
		return
	}
	switch m.Method {
	case typeJobAccepted:
		if scan.Type(scan.Get(m.Raw, "jobId")) != 's' {
			malformedAnswer(m, "an accepted job has no jobId")
			return
		}
		c.jobs.SetRunning(scan.Get(m.Raw, "jobId"), true)
	case typeEvalError:
		m.Err = readError(scan.Get(m.Raw, "error"))
	case typeEvalResult:
		m.Body = value(m.Raw)
	case typeCallResult:
		output(m)
	case typeJobResult:
		c.jobs.SetRunning(scan.Get(m.Raw, "jobId"), false)
		output(m)
	case typeResetResult:
		if m.Body = scan.Get(m.Raw, "success"); string(m.Body) != "true" {
			m.Err, m.Body = &wire.Error{Message: "the host did not reset its state"}, nil
		}
	default:
		oneMember(m)
	}
}

// oneMember reads a response whose body is one member of the message.
func oneMember(m *wire.Message) {
	member := bodies[m.Method]
	if m.Body = scan.Get(m.Raw, member); m.Body == nil && member != "" && m.Method != typeStatusResult {
		malformedAnswer(m, "a "+m.Method+" has no "+member)
	}
}

// output reads the output or the error of a command or job.
func output(m *wire.Message) {
	if failed(m.Raw) {
		m.Err = readError(scan.Get(m.Raw, "error"))
		return
	}
	m.Body = scan.OrNull(scan.Get(m.Raw, "output"))
}

// failed reports whether a command_result or job_result reports a failure.
func failed(raw []byte) bool {
	status, state := scan.String(scan.Get(raw, "status")), scan.String(scan.Get(raw, "state"))
	return status != "ok" || state == "failed" || state == "cancelled"
}

// malformedAnswer turns m into an Invalid message, which fails its call.
func malformedAnswer(m *wire.Message, what string) {
	m.Kind, m.Method = wire.Invalid, ""
	m.Err = wire.NewError(wire.CodeInvalidRequest, what)
}

// bodies names the member with the body for each type of response, or "" if there is none.
var bodies = map[string]string{
	typeEvalResult: "value", typeTick: "value", typeEvalError: "error", typeCompleteResult: "completions",
	typeResetResult: "success", typeListResult: "commands", typeDescribeResult: "descriptor", typeCallResult: "output",
	typeJobAccepted: "progress", typeStatusResult: "progress", typeJobResult: "output", typeJobCancelResult: "",
	typeJournalResult: "entries",
}

// value returns the value of an eval_result or subscribe_result, or nil if there is none. Some hosts omit a null value.
func value(raw []byte) []byte {
	if string(scan.Get(raw, "hasValue")) == "false" {
		return nil
	}
	return scan.OrNull(scan.Get(raw, "value"))
}

// besideValue appends to out log messages for what m, the result of an evaluation, contains besides the value: the
// printed output, and a note about a truncated value.
func besideValue(out []wire.Message, m wire.Message) []wire.Message {
	add := func(level, message string) {
		if message != "" {
			out = append(out, wire.Message{
				Kind: wire.Item, ID: m.ID, Beside: true, Method: m.Method,
				Event: &wire.Event{Kind: wire.Log, Level: level, Message: message},
			})
		}
	}
	add("stdout", strings.TrimSuffix(scan.String(scan.Get(m.Raw, "stdout")), "\n"))
	add("warning", truncated(m.Raw))
	return out
}

// truncated returns a warning if the host shortened or omitted a long value, else "".
func truncated(raw []byte) string {
	if string(scan.Get(raw, "truncated")) != "true" {
		return ""
	}
	message := "the host truncated or omitted the value, which is too long"
	if n := scan.Get(raw, "truncatedBytes"); scan.Type(n) == 'n' {
		message += fmt.Sprintf(" (truncatedBytes %.40s)", n)
	}
	return message
}

// evictedFault returns the Conflict that ends the connection after another client has replaced this one
// (session_evicted).
func evictedFault(raw []byte) error {
	why, _ := scan.Text(scan.Get(raw, "reason"))
	by, _ := scan.Text(scan.Get(scan.Get(raw, "by"), "clientName"))
	message := "another client has taken over the connection"
	if by != "" {
		message = fmt.Sprintf("another client (%.80q) has taken over the connection", by)
	}
	if why != "" {
		message += fmt.Sprintf(" (%.80s)", why)
	}
	return wire.NewFault(wire.Conflict, "session_evicted: "+message, nil).WithHint("a hotrepl host serves one client at a time")
}
