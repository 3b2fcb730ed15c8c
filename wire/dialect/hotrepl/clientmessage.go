package hotrepl

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A host rejects a client's message at once with one of these error codes.
const (
	codeMessageTooLarge = "messageTooLarge"
	codeLegacy          = "legacyMessageType"
	codeUnknownType     = "unknownMessageType"
	codeInvalidRequest  = "invalidRequest"
)

// A request describes a type of client message.
type request struct {
	// members are the JSON types of the members besides type and id, by name. "?" marks an optional member.
	members map[string]string
	// answers are the types of the responses. A failed command_result can also answer every type (see answersTo).
	answers []string
	// do answers a message of a client that waits for a frame. It is nil for evals, of which a frame runs at most one,
	// and for cancels, which wait for no frame.
	do func(*server, task)
}

var requests = map[string]request{
	typeEval:      {map[string]string{"code": "string", "timeoutMs": "number?"}, []string{typeEvalResult, typeEvalError}, nil},
	typeComplete:  {map[string]string{"code": "string", "cursor": "number?"}, []string{typeCompleteResult, typeEvalError}, (*server).complete},
	typeReset:     {nil, []string{typeResetResult, typeEvalError}, (*server).reset},
	typeSubscribe: {map[string]string{"code": "string", "intervalFrames": "number?", "limit": "number?", "onChange": "boolean?", "timeoutMs": "number?"}, nil, (*server).subscribe},
	typeCancel:    {map[string]string{"targetId": "string"}, nil, nil},
	typeList:      {map[string]string{"since": "string?"}, []string{typeListResult}, (*server).list},
	typeDescribe:  {map[string]string{"name": "string"}, []string{typeDescribeResult}, (*server).describe},
	typeCall:      {map[string]string{"name": "string", "args": "object", "timeoutMs": "number?"}, []string{typeCallResult, typeJobAccepted}, (*server).command},
	typeStatus:    {map[string]string{"jobId": "string"}, []string{typeStatusResult, typeJobResult}, (*server).status},
	typeJobCancel: {map[string]string{"jobId": "string"}, []string{typeJobCancelResult}, (*server).cancelJob},
	typeJournal:   {map[string]string{"kind": "string?", "limit": "number?"}, []string{typeJournalResult}, (*server).query},
}

// clientMessage reads a client's message. If the message is invalid, its Err is the response, which the server sends in
// order of arrival.
func (c *codec) clientMessage(raw []byte) wire.Message {
	if c.max > 0 && len(raw) > c.max {
		return refusedMessage(raw, kindInvalid, codeMessageTooLarge, fmt.Sprintf("The message has %d bytes; the host accepts at most %d.", len(raw), c.max))
	}
	m, bad := c.read(raw)
	if bad {
		return refusedMessage(raw, kindInvalid, codeMalformed, "Could not parse the incoming JSON frame: "+m.Err.Message)
	}
	want, known := requests[m.Method]
	switch {
	case m.Method == "ping", m.Method == "control_auth", m.Method == "lease_acquire", m.Method == typeJobResult:
		m.Err = newError(kindUnsupported, codeLegacy, "The message type "+strconv.Quote(m.Method)+" belongs to version 1 of the protocol.")
	case !known:
		m.Err = newError(kindInvalid, codeUnknownType, fmt.Sprintf("Unknown message type %.80q.", m.Method))
	default:
		m.Err = checkMembers(raw, want.members)
	}
	return m
}

// checkMembers returns an invalidRequest error for the first member that is missing or has the wrong type, or nil.
func checkMembers(raw []byte, want map[string]string) *wire.Error {
	if id := scan.Get(raw, "id"); id != nil && scan.Type(id) != 's' {
		return newError(kindInvalid, codeInvalidRequest, "The id is not a string.")
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		val := scan.Get(raw, name)
		kind, optional := strings.CutSuffix(want[name], "?")
		if missing := val == nil || scan.Type(val) == '0'; !scan.HasType(val, kind) && !(optional && missing) {
			return newError(kindInvalid, codeInvalidRequest, "The member "+name+" is missing or has the wrong type.")
		}
	}
	return nil
}

// refusedMessage returns a message without an id, whose Err is the response to raw.
func refusedMessage(raw []byte, kind, code, message string) wire.Message {
	return wire.Message{Kind: wire.Notification, Raw: raw, Err: newError(kind, code, message)}
}

// Types of a client's messages.
const (
	typeEval      = "eval"
	typeComplete  = "complete"
	typeReset     = "reset"
	typeSubscribe = "subscribe"
	typeCancel    = "cancel"
	typeList      = "commands_list"
	typeDescribe  = "command_describe"
	typeCall      = "command_call"
	typeStatus    = "job_status"
	typeJobCancel = "job_cancel"
	typeJournal   = "journal_query"
)

// Types of a host's messages.
const (
	typeHandshake       = "handshake"
	typeEvicted         = "session_evicted"
	typeReload          = "assembly_reload"
	typeError           = "error"
	typeEvalResult      = "eval_result"
	typeEvalError       = "eval_error"
	typeCompleteResult  = "complete_result"
	typeResetResult     = "reset_result"
	typeTick            = "subscribe_result"
	typeTickError       = "subscribe_error"
	typeListResult      = "commands_list_result"
	typeDescribeResult  = "command_describe_result"
	typeCallResult      = "command_result"
	typeJobAccepted     = "job_accepted"
	typeStatusResult    = "job_status_result"
	typeJobResult       = "job_result"
	typeJobCancelResult = "job_cancel_result"
	typeJournalResult   = "journal_query_result"
)

// answersTo reports whether m has a type that answers a request of type asked.
func answersTo(asked string, m *wire.Message) bool {
	return slices.Contains(requests[asked].answers, m.Method) || m.Method == typeCallResult && failed(m.Raw)
}

// isClientType reports whether clients send messages of type kind.
func isClientType(kind string) bool {
	_, ok := requests[kind]
	return ok
}
