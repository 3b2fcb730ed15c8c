package ro

import (
	"cmp"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
)

// Event sets ev to the user's event for m. A result before the last one becomes progress with the result as data. The last
// result becomes data, or a failure if its status is error ("Async Results" in the specification). Job is the target of
// an async result, or the job in a response. Other members beside the result become members of Extra.
func (c *codec) Event(m *wire.Message, ev *wire.Event) error {
	if own, ok := result(m); ok {
		*ev = own
	} else if err := c.Codec.Event(m, ev); err != nil || m.Params != nil {
		return err
	}
	addExtra(ev, m)
	return nil
}

// result returns the event of an async result, or of a response that has the form of one. It returns false for other
// messages.
func result(m *wire.Message) (ev wire.Event, ok bool) {
	s := status(m.Body)
	continues := slices.Contains([]string{"accepted", "pending"}, s) // the status announces further results
	answer := m.Kind == wire.Response && m.Err == nil
	later := m.Kind == wire.Item && m.Params == nil && m.Err == nil && m.Body != nil
	switch {
	case s == "error" && (later || answer && onlyMembers(m.Body, failureMembers)):
		return wire.Event{Kind: wire.Failure, Final: true, Err: resultError(m.Body)}, true
	case answer && !m.Final && continues:
		return progress(m.Body), true
	case !later:
		return ev, false
	case m.Method == "" && !continues, strings.HasSuffix(m.Method, "."+verbReturn):
		return wire.Event{Kind: wire.Data, Final: m.Final, Data: m.Body}, true
	}
	return progress(m.Body), true
}

// addExtra adds to ev the members of a message, except its result.
func addExtra(ev *wire.Event, m *wire.Message) {
	var rest scan.Object
	rest.Named(m.Raw, "jsonrpc", "id", "request_id", "method", "verb", "target", "result", "error")
	if text, ok := targetText(scan.Get(m.Raw, "target")); ok {
		ev.Job = scan.AppendQuoted(nil, text)
	}
	if !rest.Empty() {
		ev.Extra = rest.End()
	}
	if m.Method == "" && ev.Kind == wire.Progress { // a response may name the job in its result
		if _, target := namedIn(m.Raw, m.Body); target != "" {
			ev.Job = scan.AppendQuoted(nil, target)
		}
	}
}

// progress returns the event of a result before the last one.
func progress(body []byte) wire.Event {
	ev := wire.Event{Kind: wire.Progress, Data: body}
	if scan.Type(body) != 'o' {
		return ev
	}
	for key, val := range scan.Named(body) {
		switch key {
		case "progress", "percent", "percentage":
			ev.Fraction = dialect.Fraction(val)
		case "message", "stage", "content":
			if text, ok := scan.Text(val); ok && ev.Message == "" {
				ev.Message = text
			}
		}
	}
	if ev.Message == "" && !onlyMembers(body, promiseMembers) {
		ev.Message = string(scan.Minify(nil, scan.Without(body, "status"))) // a bridge may forward only the message
	}
	ev.Message = cmp.Or(ev.Message, status(body))
	return ev
}

// resultError reads the error of a result with the status error: a JSON-RPC error in its member "error", or the members
// of such an error beside the status.
func resultError(body []byte) *wire.Error {
	e := &wire.Error{Message: "failed", Data: body}
	if val := scan.Get(body, "error"); scan.Type(val) == 'o' {
		inner := jsonrpc.ReadError(val)
		e.Code, e.Retryable = inner.Code, inner.Retryable
		e.Message = cmp.Or(inner.Message, e.Message)
	}
	text := func(member string) string { return scan.String(scan.Get(body, member)) }
	e.Message = cmp.Or(text("message"), text("reason"), text("error"), e.Message)
	if code := scan.Get(body, "code"); e.Code == nil && scan.Type(code) == 'n' {
		e.Code = code
	}
	if val := scan.Get(body, "retryable"); e.Retryable == nil && (scan.Type(val) == 't' || scan.Type(val) == 'f') {
		e.Retryable = new(string(val) == "true")
	}
	return e
}

// hasMoreResults reports whether a response with the result body only announces further results. For a Call, body must
// be a promise or, if the user started the call as a job, have a promise's status. For a Subscribe, that status, true,
// null and an empty object announce further results.
func hasMoreResults(kind dialect.OpKind, job bool, body []byte) bool {
	switch status(body) {
	case "accepted", "pending":
		return kind == dialect.Subscribe || job || isPromise(body)
	case "done", "error":
		return false
	}
	if kind != dialect.Subscribe {
		return false
	}
	switch scan.Type(body) {
	case 't', '0':
		return true
	case 'o':
		return scan.Count(body) == 0
	}
	return false
}

// promiseMembers are the members of a result that only reports the progress of a call: members of the specification,
// and members that name the job. An object with any other member, such as an order with its own status, is the answer
// itself.
var promiseMembers = []string{
	"status", "progress", "percent", "percentage", "stage", "content", "message",
	"resource", "subresource", "parent", "target", "request_id", "job", "job_id", "jobId",
}

// acceptedMembers are the members of a result with the status accepted. An object with only an id and the status
// contains the job's id, because the user's own objects have more members.
var acceptedMembers = append([]string{"id"}, promiseMembers...)

// failureMembers are the members of a result that only reports a call's failure.
var failureMembers = append([]string{"error", "reason", "code", "data", "kind", "retryable"}, promiseMembers...)

func onlyMembers(obj []byte, names []string) bool {
	return every(obj, func(key string, _ []byte) bool { return slices.Contains(names, key) })
}

// isPromise reports whether a result only announces further results.
func isPromise(body []byte) bool {
	switch status(body) {
	case "accepted":
		return onlyMembers(body, acceptedMembers)
	case "pending":
		return onlyMembers(body, promiseMembers)
	}
	return false
}

// status returns the "status" of a result object, or "".
func status(body []byte) string {
	return scan.String(scan.Get(body, "status"))
}
