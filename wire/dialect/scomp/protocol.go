package scomp

// The specification defines these names.
const (
	protocol    = "0.1"
	subprotocol = "scomp.v0"

	handshake   = "handshake"
	evalWord    = "eval"
	invokeWord  = "invoke"
	releaseWord = "release_ref"

	sessionWord = "sessionId" // in the handshake's result
	valueWord   = "value"     // in eval's result and, as an assumption, in invoke's
	kindEval    = "EvalError" // in an error's data.kind
)
