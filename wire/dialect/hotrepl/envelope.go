package hotrepl

import (
	"encoding/json"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// The kinds of error that the page has. Others are taken as they come.
const (
	kindValidation   = "validation_failed"
	kindPrecondition = "precondition_failed"
	kindConflict     = "conflict"
	kindTimeout      = "timeout"
	kindCancelled    = "cancelled"
	kindBusy         = "busy"
	kindUnknown      = "unknown_command"
	kindUnsupported  = "unsupported_operation"
	kindMissing      = "artifact_missing"
	kindInvalid      = "invalid_request"
	kindInternal     = "internal"
)

// The codes of errors that stand in more places than one.
const (
	codeMalformed    = "malformedJson"
	codeTooLarge     = "resultTooLarge"
	codeEvalTimeout  = "evalTimeout"
	codeCancelled    = "evalCancelled"
	codeJobCancelled = "jobCancelled"
)

// An envelope is an error as the page has it.
type envelope struct {
	kind, code, message string
	retryable           bool
	details             json.RawMessage // nil: none
}

// json is the envelope as an object.
func (e envelope) json() []byte {
	b := text([]byte{'{'}, "kind", e.kind)
	b = text(b, "code", e.code)
	b = text(b, "message", e.message)
	b = strconv.AppendBool(append(b, `,"retryable":`...), e.retryable)
	if e.details != nil {
		b = member(b, "details", e.details)
	}
	return append(b, '}')
}

// errorMessage is an error that belongs to no type of its own; id may be nil.
func errorMessage(id wire.ID, e envelope) []byte {
	b := text([]byte{'{'}, "type", typeError)
	if id != nil {
		b = member(b, "id", id)
	}
	return append(member(b, "error", e.json()), '}')
}

// readError reads an envelope. What lacks is left out, what is no envelope is an
// error all the same.
func readError(val []byte) *wire.Error {
	e := &wire.Error{Message: "the host says that it failed, and not why"}
	if scan.Type(val) != 'o' {
		if s, ok := scan.Text(val); ok && s != "" {
			e.Message = s
		}
		return e
	}
	e.Raw = val
	if s, ok := scan.Text(scan.Get(val, "message")); ok {
		e.Message = s
	}
	if code := scan.Get(val, "code"); scan.Type(code) == 's' || scan.Type(code) == 'n' {
		e.Code = code
	}
	e.Kind, _ = scan.Text(scan.Get(val, "kind"))
	switch again := scan.Get(val, "retryable"); scan.Type(again) {
	case 't', 'f':
		yes := scan.Type(again) == 't'
		e.Retryable = &yes
	}
	if details := scan.Get(val, "details"); details != nil && scan.Type(details) != '0' {
		e.Data = details
	}
	return e
}
