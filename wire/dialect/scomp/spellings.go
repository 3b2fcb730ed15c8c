package scomp

// The specification leaves these names open, and no other source defines them. All assumptions are here, where a
// correction changes one row. Of several spellings, rpcx writes the first and reads all.
var (
	bindingSpellings   = []string{"name", "binding", "target"}            // in invoke's params: the binding
	referenceSpellings = []string{"ref", "function", "$ref"}              // in invoke's params: the function reference
	inputSpellings     = []string{"input", "args", "arguments", "params"} // in invoke's params: the argument
	functionSpellings  = []string{"$fn", "$function"}                     // in a function value: the id
	releasedSpellings  = []string{"ref", "id"}                            // in release_ref's params: the reference
)

const (
	invokeValueWord  = valueWord   // in invoke's result: the value, as in the specification of eval
	fnTypeWord       = "type"      // in a function value that its type identifies: the type
	fnType           = "function"  // the value of fnTypeWord
	fnTypeRef        = "$ref"      // in the same function value: the id
	releasedListWord = "refs"      // in release_ref's params: several references
	resumeWord       = "sessionId" // in the handshake's metadata: the session to resume

	kindInvoke    = "InvokeError" // a value of an error's data.kind, an open vocabulary
	kindRef       = "RefError"
	kindHandshake = "HandshakeError"
)

// RefPrefix begins a METHOD for a function reference: "ref:ID". It is rpcx's own notation and never sent.
const RefPrefix = "ref:"
