package options

import (
	"fmt"
	"sync"
	"time"

	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/peer"
	"rpcx/wire/redact"
	"rpcx/wire/transport"
)

// Tap returns a tap that shows each message with -v and calls Env.OnMessage, or nil without both.
func Tap(run *env.Env) wire.Tap { return tapOf(run, "") }

// ForClient returns a function that makes the tap and the receiver of notes for each client of a server.
func ForClient(run *env.Env) func(client string) (wire.Tap, func(peer.Note)) {
	note := noter(run)
	return func(client string) (wire.Tap, func(peer.Note)) {
		return tapOf(run, client), func(n peer.Note) { note(n, client) }
	}
}

// tapOf is like Tap, but for one of several clients. client is "" for the only peer.
func tapOf(run *env.Env, client string) wire.Tap {
	onMessage, meter := run.OnMessage, run.Common.Meter
	if !run.Common.Verbose && onMessage == nil && meter == nil {
		return nil
	}
	return func(d wire.Direction, msg []byte) {
		meter.Message(d, msg)
		if onMessage != nil && d == wire.Recv {
			onMessage()
		}
		if run.Common.Verbose {
			run.Console.Trace(client, d, msg, time.Since(run.Started))
		}
	}
}

// noter returns the function for peer.Options.Note. It warns, once for each text, about requests without a hook. It
// prints other notes only with -v. client names one of several clients.
func noter(run *env.Env) func(n peer.Note, client string) {
	var mu sync.Mutex
	warned := map[string]bool{}
	return func(n peer.Note, client string) {
		text, who, from := string(redact.JSON([]byte(n.Text))), "the peer", "" // the text may quote a message
		if client != "" {
			who, from = client, client+": "
		}
		if n.Kind == peer.NoteUnhandledNotification && n.Method != "" {
			run.Unhandled.CompareAndSwap(nil, &n.Method)
		}
		if n.Shown { // --select may have printed the fact
			return
		}
		switch {
		case n.Kind == peer.NoteEvent:
			run.Console.Event(*n.Event)
			return
		case n.Kind == peer.NoteUnhandledRequest:
			name := format.Cut(format.CleanLine(n.Method), 200)
			text = fmt.Sprintf("called %s, which has no hook (--on NAME=ANSWER)", name)
			from = who + " "
		case run.Common.Verbose && n.Kind == peer.NoteDetail:
			run.Console.Note(from + text)
			return
		case run.Common.Verbose:
			run.Console.Warn(from + text)
			return
		case n.Kind == peer.NoteUnhandledNotification, n.Kind == peer.NoteDetail:
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if warned[text] || len(warned) > maxNotes {
			return
		}
		if warned[text] = true; len(warned) > maxNotes {
			text, from = "caused too many warnings; -v shows the rest", who+" "
		}
		run.Console.Warn(from + text)
	}
}

// maxNotes bounds the different warnings about one peer, which could otherwise cause any number.
const maxNotes = 200

// watch returns the Watch that shows how rpcx connects (-v) and the bytes (-vv), and measures for -w. It returns nil
// without these flags.
func watch(run *env.Env) *transport.Watch {
	if !run.Common.Verbose {
		if meter := run.Common.Meter; meter != nil {
			return &transport.Watch{Fact: meter.Fact}
		}
		return nil
	}
	w := &transport.Watch{Fact: func(f wire.Fact) {
		run.Common.Meter.Fact(f)
		run.Console.Fact(f, time.Since(run.Started))
	}}
	if run.Common.Bytes() {
		w.Piece = func(p wire.Piece) { run.Console.Piece(p, time.Since(run.Started)) }
	}
	return w
}
