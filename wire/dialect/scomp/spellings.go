package scomp

// These are the names that the specification leaves open. They are not published anywhere. All assumptions are in this
// place, so that a correction changes one row. If there are several spellings, the first is written, and all are read.
var (
	bindingSpellings   = []string{"name", "binding", "target"}            // in invoke's params: the binding
	referenceSpellings = []string{"ref", "function", "$ref"}              // in invoke's params: the function reference
	inputSpellings     = []string{"input", "args", "arguments", "params"} // of invoke's params: its argument
	functionSpellings  = []string{"$fn", "$function"}                     // of a function value: its id
	releasedSpellings  = []string{"ref", "id"}                            // in release_ref's params: the reference
)

const (
	invokeValueWord  = valueWord   // in invoke's result: the binding's result, as in the specification of eval
	fnTypeWord       = "type"      // of a function value that is told by its type: the type,
	fnType           = "function"  // which is this,
	fnTypeRef        = "$ref"      // and its id
	releasedListWord = "refs"      // of release_ref's params: several references
	resumeWord       = "sessionId" // in the handshake's metadata: the session to resume

	kindInvoke    = "InvokeError" // of an error's data.kind, an open vocabulary
	kindRef       = "RefError"
	kindHandshake = "HandshakeError"
)

// RefPrefix begins a METHOD that names a function reference: "ref:ID". It is rpcx's own notation and is never sent.
const RefPrefix = "ref:"
