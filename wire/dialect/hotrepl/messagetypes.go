package hotrepl

import (
	"slices"

	"rpcx/wire"
)

// The types of message that a client sends.
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

// The types of message that a host sends.
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

// answerTypes are the types of message that answer a client's. A failed command_result answers any command (see the
// dialect's specification), and an eval_error any request to the evaluator.
var answerTypes = map[string][]string{
	typeEval: {typeEvalResult, typeEvalError}, typeComplete: {typeCompleteResult, typeEvalError}, typeReset: {typeResetResult, typeEvalError},
	typeList: {typeListResult}, typeDescribe: {typeDescribeResult}, typeCall: {typeCallResult, typeJobAccepted},
	typeStatus: {typeStatusResult, typeJobResult}, typeJobCancel: {typeJobCancelResult}, typeJournal: {typeJournalResult},
}

// answersTo reports whether the type of m answers the request.
func answersTo(asked string, m *wire.Message) bool {
	return slices.Contains(answerTypes[asked], m.Method) || m.Method == typeCallResult && failed(m.Raw)
}

// asked reports whether kind is a type of message that clients send.
func asked(kind string) bool {
	_, ok := fields[kind]
	return ok
}
