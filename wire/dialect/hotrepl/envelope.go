package hotrepl

import (
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// The kinds of error in the specification. A client also accepts any other.
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

// These are the codes of errors that are used in several places.
const (
	codeMalformed    = "malformedJson"
	codeTooLarge     = "resultTooLarge"
	codeEvalTimeout  = "evalTimeout"
	codeCancelled    = "evalCancelled"
	codeJobCancelled = "jobCancelled"
)

// An envelope is the error member of the page's messages.
type envelope struct {
	kind, code, message string
	retryable           bool
	details             json.RawMessage // nil means none
}

// json returns the envelope as an object.
func (e envelope) json() []byte {
	return build("").text("kind", e.kind).text("code", e.code).text("message", e.message).
		bool("retryable", e.retryable).raw("details", e.details).end()
}

// errorMessage returns an "error" message for requests without their own type of error. id is nil if none could be
// read.
func errorMessage(id wire.ID, e envelope) []byte {
	return build(typeError).id(id).raw("error", e.json()).end()
}

// readError reads an envelope. It omits missing or malformed members. Even a val that is not an envelope becomes an
// error.
func readError(val []byte) *wire.Error {
	e := &wire.Error{Message: "the host reported a failure without a message"}
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
