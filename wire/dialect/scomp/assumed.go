package scomp

// What the protocol's page leaves open. Nothing of this is published: each row
// is assumed, and a correction is a change of its row. Of several spellings the
// first is written and all are read.
var (
	nameWords  = []string{"name", "binding", "target"}            // of invoke's params: the binding
	refWords   = []string{"ref", "function", "$ref"}              // of invoke's params: the function reference
	inputWords = []string{"input", "args", "arguments", "params"} // of invoke's params: its argument
	fnWords    = []string{"$fn", "$function"}                     // of a function value: its id
	dropWords  = []string{"ref", "id"}                            // of release_ref's params: the reference
)

const (
	givenWord  = valueWord   // of invoke's result: what the binding gave, as the page has it for eval
	fnTypeWord = "type"      // of a function value that is told by its type: the type,
	fnType     = "function"  // which is this,
	fnTypeRef  = "$ref"      // and its id
	dropsWord  = "refs"      // of release_ref's params: several references
	resumeWord = "sessionId" // of the handshake's metadata: the session to go on with

	kindInvoke    = "InvokeError" // of an error's data.kind, an open vocabulary
	kindRef       = "RefError"
	kindHandshake = "HandshakeError"
)

// RefPrefix is how a user names a function reference where a method stands: a
// word of rpcx, which never goes over the wire.
const RefPrefix = "ref:"
