package hotrepl

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

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
	// members are the members besides type and id, with their JSON types: s (string), n (number), o (object) or b
	// (boolean). An uppercase letter marks a required member.
	members map[string]byte
	// answers are the types of the responses. A failed command_result can also answer every type (see answersTo).
	answers []string
}

var requests = map[string]request{
	typeEval:      {map[string]byte{"code": 'S', "timeoutMs": 'n'}, []string{typeEvalResult, typeEvalError}},
	typeComplete:  {map[string]byte{"code": 'S', "cursor": 'n'}, []string{typeCompleteResult, typeEvalError}},
	typeReset:     {nil, []string{typeResetResult, typeEvalError}},
	typeSubscribe: {map[string]byte{"code": 'S', "intervalFrames": 'n', "limit": 'n', "onChange": 'b', "timeoutMs": 'n'}, nil},
	typeCancel:    {map[string]byte{"targetId": 'S'}, nil},
	typeList:      {map[string]byte{"since": 's'}, []string{typeListResult}},
	typeDescribe:  {map[string]byte{"name": 'S'}, []string{typeDescribeResult}},
	typeCall:      {map[string]byte{"name": 'S', "args": 'O', "timeoutMs": 'n'}, []string{typeCallResult, typeJobAccepted}},
	typeStatus:    {map[string]byte{"jobId": 'S'}, []string{typeStatusResult, typeJobResult}},
	typeJobCancel: {map[string]byte{"jobId": 'S'}, []string{typeJobCancelResult}},
	typeJournal:   {map[string]byte{"kind": 's', "limit": 'n'}, []string{typeJournalResult}},
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
func checkMembers(raw []byte, want map[string]byte) *wire.Error {
	if id := scan.Get(raw, "id"); id != nil && scan.Type(id) != 's' {
		return newError(kindInvalid, codeInvalidRequest, "The id is not a string.")
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		kind := want[name]
		val := scan.Get(raw, name)
		is, must := scan.Type(val), kind < 'a'
		if must {
			kind += 'a' - 'A'
		}
		if is == 't' || is == 'f' {
			is = 'b'
		}
		switch {
		case is == kind:
		case val == nil && !must, is == '0' && !must:
		default:
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
