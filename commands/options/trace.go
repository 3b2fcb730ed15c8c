package options

import (
	"fmt"
	"sync"
	"time"

	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/peer"
)

// tap returns what is shown each message, for -v and a.Heard; nil if neither wants
// any.
func tap(a *env.Env) wire.Tap {
	heard := a.Heard
	if !a.Common.Verbose && heard == nil {
		return nil
	}
	return func(d wire.Direction, msg []byte) {
		if heard != nil && d == wire.Recv {
			heard()
		}
		if a.Common.Verbose {
			a.Console.Trace(d, msg, time.Since(a.Started))
		}
	}
}

// noter returns what is told of the traffic. It warns, once for each text, of
// requests that nothing answers; other notes are shown with -v alone.
func noter(a *env.Env) func(peer.Note) {
	var mu sync.Mutex
	said := map[string]bool{}
	return func(n peer.Note) {
		text := n.Text
		switch {
		case n.Kind == peer.NoteEvent:
			a.Console.Event(*n.Event)
			return
		case n.Kind == peer.NoteUnhandledRequest:
			name := format.Cut(format.CleanLine(n.Method), 200)
			text = fmt.Sprintf("the peer called %s, which nothing answers (--on NAME=ANSWER does)", name)
		case a.Common.Verbose:
			a.Console.Warn(text)
			return
		case n.Kind == peer.NoteUnhandledNotification, n.Kind == peer.NoteDetail:
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if said[text] || len(said) > maxNotes {
			return
		}
		if said[text] = true; len(said) > maxNotes {
			text = "the peer gives rise to more warnings than are worth showing (-v shows more)"
		}
		a.Console.Warn(text)
	}
}

// maxNotes is how many different warnings are shown of one peer at most, since a
// peer can think of more.
const maxNotes = 200
