package prompt

import (
	"slices"
	"strings"
	"time"

	"rpcx/commands/env"
	"rpcx/commands/params"
	"rpcx/commands/request"
	"rpcx/wire"
	"rpcx/wire/scan"
)

// This file reads lines from the keyboard and executes them.

// queuedLines bounds the queued lines, for example after a paste. At the bound, the keyboard is not read.
const queuedLines = 1024

// promptCommands are words that, alone on a line, are commands of the prompt, unless the peer has a method of that
// name.
var promptCommands = []string{"help", "?", "exit", "quit"}

// explainPrompt prints a short help.
func explainPrompt(p *prompt) {
	for _, line := range []string{
		"METHOD key=value    makes a call (key:=JSON, JSON values: rpcx help params); Tab completes",
		`{"method":...}      is sent unchanged, as is a response {"id":...,"result":...} to the peer`,
		"Ctrl-C              cancels the latest call; Ctrl-D, exit or quit ends the prompt",
		"rpcx help prompt    describes the prompt; rpcx describe lists the peer's methods",
	} {
		p.Env.Console.Note(line)
	}
}

// listen reads the keyboard until Ctrl-D. It executes lines one by one while the user can type more.
func (p *prompt) listen() {
	defer wire.Guard()
	lines := make(chan string, queuedLines)
	done := make(chan struct{})
	go func() {
		defer wire.Guard()
		defer close(done)
		for line := range lines {
			p.line(line)
		}
	}()
	for line, ok := p.next(); ok; line, ok = p.next() {
		lines <- line
	}
	close(lines)
	select {
	case <-done:
	case <-time.After(env.CloseTimeout):
	}
}

// next returns the next line to execute, which may consist of several typed lines. It returns false at Ctrl-D or exit.
func (p *prompt) next() (string, bool) {
	for {
		line, err := p.screen.ReadLine()
		if err != nil {
			return "", false
		}
		p.Deadline.Touch()
		p.rest += line
		if _, open, _ := params.Split(p.rest); open {
			p.rest += " "
			p.screen.SetText(promptMore)
			continue
		}
		line, p.rest, p.filled = p.rest, "", false
		p.screen.SetText(promptText)
		p.past.keep(line)
		switch word := strings.TrimSpace(line); {
		case !slices.Contains(promptCommands, word) || p.known().Method(word) != nil:
			return line, true
		case word == "exit" || word == "quit":
			return "", false
		}
		explainPrompt(p)
	}
}

func (p *prompt) line(text string) {
	text = strings.Trim(text, " \t\r\n")
	switch {
	case text == "":
	case text[0] == '{' || text[0] == '[':
		p.failed(p.send([]byte(text)))
	default:
		p.call(text)
	}
}

func (p *prompt) send(text []byte) error {
	msg, err := request.Outgoing(text, p.Conv.Dialect())
	if err != nil {
		return wire.NewFault(wire.Usage, "not sent: "+err.Error(), err)
	}
	return p.Pipe.Send(p.Deadline.Ctx, scan.Compact(nil, msg))
}

// full reports, once, that the line is full and further characters are lost.
func (p *prompt) full() {
	if !p.filled {
		p.filled = true
		p.Env.Console.Warn("the line is full, and further characters are lost; pasted lines can be longer (bracketed paste)")
	}
}

// interrupt handles Ctrl-C: it cancels the latest call, or returns false to clear the line.
func (p *prompt) interrupt() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range slices.Backward(p.calls) {
		if !c.cancelled {
			c.cancelled = true
			c.deadline.Cancel(errCancelled)
			return true
		}
	}
	if p.rest != "" {
		p.rest = ""
		p.screen.SetText(promptText)
		p.screen.Redraw()
	}
	return false
}
