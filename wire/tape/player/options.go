// Package player plays one side of a tape with a live peer. A Server plays the server for any client. Client plays the client to
// check a server. Package player processes messages; its caller opens the connections.
package player

import (
	"context"
	"encoding/json"
	"time"

	"rpcx/wire"
	"rpcx/wire/tape/match"
)

// Options control playing. The zero value is usable.
type Options struct {
	Strict bool    // each request must be the next one on the tape
	Speed  float64 // 1 for the recorded pace, 2 for twice that pace, 0 for no pauses
	// Set contains values for redacted members of local lines, by member name, and for $name in the programs of a tape.
	Set map[string]json.RawMessage
	// AnswerTimeout bounds how long Client waits for a message of the tape (10 s by default).
	AnswerTimeout time.Duration
	// Linger is how long Client waits for extra messages at the end of the tape (50 ms by default).
	Linger time.Duration
	// A Server calls Found for each difference, from one goroutine per conversation. Found may be nil.
	Found func(match.Difference)
	Tap   wire.Tap // sees every live message; may be nil

	ctx context.Context // also ends the programs of the tape; may be nil
}
