// Package player plays one side of a tape against a live peer: the server, for
// any client (Server), or the client, against a server that is to be checked
// (Client). It works on messages; the caller opens the connections.
package player

import (
	"context"
	"encoding/json"
	"time"

	"rpcx/wire"
	"rpcx/wire/tape/match"
)

// Options say how a tape is played. The zero value is usable.
type Options struct {
	Strict bool    // a request must be the next one on the tape
	Speed  float64 // 1 keeps the recorded pace, 2 is twice as fast; 0 means no waiting
	// Set has values for the redacted members of local lines, by the member's name, and for $name in a tape's programs.
	Set map[string]json.RawMessage
	// AnswerTimeout bounds how long Client waits for a message that the tape has; 0: 10
	// s.
	AnswerTimeout time.Duration
	// Linger is how long Client waits for further messages after everything on
	// the tape; 0: 50 ms.
	Linger time.Duration
	// Found is called by a Server with each difference, from one goroutine for each
	// conversation. May be nil.
	Found func(match.Difference)
	Tap   wire.Tap // sees each live message; may be nil

	ctx context.Context // ends the tape's programs, too; nil means nothing does
}
