package scomp

// The names that the protocol's page leaves open. They are published nowhere
// and therefore assumed here, in one place, so that a correction is a change of
// one row. Where there are several spellings the first is written, and all are
// read.
var (
	bindingSpellings   = []string{"name", "binding", "target"}            // of invoke's params: the binding
	referenceSpellings = []string{"ref", "function", "$ref"}              // of invoke's params: the function reference
	inputSpellings     = []string{"input", "args", "arguments", "params"} // of invoke's params: its argument
	functionSpellings  = []string{"$fn", "$function"}                     // of a function value: its id
	releasedSpellings  = []string{"ref", "id"}                            // of release_ref's params: the reference
)

const (
	invokeValueWord  = valueWord   // of invoke's result: what the binding gave, as the page has it for eval
	fnTypeWord       = "type"      // of a function value that is told by its type: the type,
	fnType           = "function"  // which is this,
	fnTypeRef        = "$ref"      // and its id
	releasedListWord = "refs"      // of release_ref's params: several references
	resumeWord       = "sessionId" // of the handshake's metadata: the session to go on with

	kindInvoke    = "InvokeError" // of an error's data.kind, an open vocabulary
	kindRef       = "RefError"
	kindHandshake = "HandshakeError"
)

// RefPrefix begins a METHOD that names a function reference: "ref:ID". It is
// rpcx's own notation and never goes over the wire.
const RefPrefix = "ref:"
