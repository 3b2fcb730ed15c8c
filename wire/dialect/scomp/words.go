package scomp

// The protocol's own words, from its page.
const (
	protocol    = "0.1"
	subprotocol = "scomp.v0"

	handshake   = "handshake"
	evalWord    = "eval"
	invokeWord  = "invoke"
	releaseWord = "release_ref"

	sessionWord = "sessionId" // of the handshake's result
	valueWord   = "value"     // of eval's result
	kindEval    = "EvalError" // of an error's data.kind
)

// schemaRef is how a JSON Schema refers to another.
const schemaRef = "$ref"
