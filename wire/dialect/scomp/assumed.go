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
	valueWord   = "value"     // of a result: what eval and invoke gave
	dropsWord   = "refs"      // of release_ref's params: several references
	schemaRef   = "$ref"      // of a function value, beside "type":"function": its id
	resumeWord  = "sessionId" // of the handshake's metadata: the session to go on with
	subprotocol = "scomp.v0"  // from the page; here beside the other names
)

// The classes of errors, as data.kind says them. The vocabulary is open.
const (
	kindEval      = "EvalError"
	kindInvoke    = "InvokeError"
	kindRef       = "RefError"
	kindHandshake = "HandshakeError"
)

// The protocol's own words, from its page.
const (
	protocol    = "0.1"
	handshake   = "handshake"
	evalWord    = "eval"
	invokeWord  = "invoke"
	releaseWord = "release_ref"
)

// RefPrefix is how a user names a function reference where a method stands.
const RefPrefix = "ref:"
