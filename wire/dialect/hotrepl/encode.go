package hotrepl

import (
	"cmp"
	"encoding/json"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A builder writes one message or object, member by member. Each method adds one member and returns the builder.
type builder struct{ o scan.Object }

// build starts a message of type kind, or an object without a type if kind is "".
func build(kind string) builder {
	var b builder
	b.o.SomeText("type", kind)
	return b
}

func (b builder) end() json.RawMessage { return b.o.End() }

func (b builder) raw(key string, val []byte) builder {
	b.o.Compact(key, val)
	return b
}

func (b builder) text(key, val string) builder {
	b.o.Text(key, val)
	return b
}

func (b builder) id(id wire.ID) builder { return b.raw("id", id) }

func (b builder) int(key string, n int) builder {
	b.o.Int(key, int64(n))
	return b
}

func (b builder) bool(key string, yes bool) builder {
	b.o.Bool(key, yes)
	return b
}

func (b builder) duration(begun time.Time) builder {
	return b.int("durationMs", int(time.Since(begun)/time.Millisecond))
}

// value adds the result of an evaluation: hasValue, value and valueType. For code without a value, it adds only
// hasValue false.
func (b builder) value(val json.RawMessage) builder {
	if val == nil {
		return b.bool("hasValue", false)
	}
	return b.bool("hasValue", true).raw("value", val).text("valueType", valueTypes[scan.Type(val)])
}

// valueTypes are the names of JSON types by the letters of scan.Type.
var valueTypes = map[byte]string{
	'o': "object", 'a': "array", 's': "string", 'n': "number", 't': "boolean", 'f': "boolean", '0': "null",
}

// Kinds of errors in the specification. A client also accepts other kinds.
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

// Error codes that are used in several places.
const (
	codeMalformed    = "malformedJson"
	codeTooLarge     = "resultTooLarge"
	codeEvalTimeout  = "evalTimeout"
	codeCancelled    = "evalCancelled"
	codeJobCancelled = "jobCancelled"
	codeException    = "runtimeException"
)

// newError returns an error for the client, which may not repeat the request.
func newError(kind, code, message string) *wire.Error {
	return &wire.Error{Kind: kind, Code: strconv.AppendQuote(nil, code), Message: message}
}

// errorJSON returns the error member of HotRepl's messages.
func errorJSON(e *wire.Error) []byte {
	return build("").text("kind", e.Kind).raw("code", e.Code).text("message", e.Message).
		bool("retryable", e.Retryable != nil && *e.Retryable).raw("details", e.Data).end()
}

// errorMessage returns an "error" message, for requests whose type has no error response. id is nil if it was
// unreadable.
func errorMessage(id wire.ID, e *wire.Error) []byte {
	return build(typeError).id(id).raw("error", errorJSON(e)).end()
}

// readError reads the error in a host's message: an object, or a string with the message. It ignores malformed members
// and other values.
func readError(val []byte) *wire.Error {
	e := &wire.Error{Message: cmp.Or(scan.String(val), "the host reported a failure without a message")}
	if scan.Type(val) != 'o' {
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
	if again := scan.Type(scan.Get(val, "retryable")); again == 't' || again == 'f' {
		e.Retryable = new(again == 't')
	}
	if details := scan.Get(val, "details"); details != nil && scan.Type(details) != '0' {
		e.Data = details
	}
	return e
}
