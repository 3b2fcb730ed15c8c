package scomp

// The specification leaves these names open, and no other source defines them. They are assumptions, and correcting one
// changes only its row. If a row has several spellings, rpcx writes the first and reads all.
var (
	bindingSpellings   = []string{"name", "binding", "target"}            // in invoke's params: the binding
	referenceSpellings = []string{"ref", "function", "$ref"}              // in invoke's params: the function reference
	inputSpellings     = []string{"input", "args", "arguments", "params"} // in invoke's params: the argument
	functionSpellings  = []string{"$fn", "$function"}                     // in a function value: the id
	releasedSpellings  = []string{"ref", "id"}                            // in release_ref's params: the reference
)

const (
	fnTypeWord       = "type"      // in a function value that is identified by its type: the type
	fnType           = "function"  // the value of fnTypeWord
	fnTypeRef        = "$ref"      // in such a function value: the id
	releasedListWord = "refs"      // in release_ref's params: several references
	resumeWord       = "sessionId" // in the handshake's metadata: the session to resume

	kindInvoke    = "InvokeError" // a value of data.kind in an error; clients must accept others
	kindRef       = "RefError"
	kindHandshake = "HandshakeError"
)

// RefPrefix is the prefix of a METHOD that names a function reference: "ref:ID". It is rpcx's own notation and is never
// sent.
const RefPrefix = "ref:"
