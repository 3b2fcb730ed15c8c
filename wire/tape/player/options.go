// Package player plays one side of a tape against a live peer: the server, for any client (Server), or the client, to check a server
// (Client). It handles messages; the caller opens the connections.
package player

import (
	"context"
	"encoding/json"
	"time"

	"rpcx/wire"
	"rpcx/wire/tape/match"
)

// Options control how a tape is played. The zero value is usable.
type Options struct {
	Strict bool    // a request must be the next one on the tape
	Speed  float64 // 1 keeps the recorded pace, 2 is twice as fast; 0 means no waiting
	// Set has values for the redacted members of local lines, by member name, and for $name in a tape's programs.
	Set map[string]json.RawMessage
	// AnswerTimeout bounds how long Client waits for a message that is on the tape (0: 10 s).
	AnswerTimeout time.Duration
	// Linger is how long Client waits for further messages after the end of the tape (0: 50 ms).
	Linger time.Duration
	// Found is called by a Server for each difference, from one goroutine per conversation. It may be nil.
	Found func(match.Difference)
	Tap   wire.Tap // sees each live message; may be nil

	ctx context.Context // also ends the tape's programs; nil: no context
}
