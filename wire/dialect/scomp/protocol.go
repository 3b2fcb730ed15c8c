package scomp

// The names that the protocol's page defines.
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

// schemaRef is the keyword with which a JSON Schema refers to another.
const schemaRef = "$ref"
