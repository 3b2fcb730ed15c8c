// Package prompt implements rpcx connect on a terminal: a line for typing calls below the peer's messages.
package prompt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
	"rpcx/wire/session"
	"rpcx/wire/session/relay"
)

// Options configure a prompt.
type Options struct {
	Env      *env.Env
	Endpoint endpoint.Endpoint
	Conv     session.Conversation
	Pipe     relay.RawPipe
	Print    *format.Pipeline
	Deadline *env.Deadline
	Params   options.Params
	Catalog  *catalog.Catalog // types params; may be nil
}

// Run runs the prompt until the user ends it or the conversation ends.
func Run(o Options) error { return (&prompt{Options: o}).run() }

// A prompt is a conversation on a terminal. Typed lines are calls or messages, and received messages appear above the
// line.
type prompt struct {
	Options
	screen *format.Prompt
	past   *history
	fatal  chan error

	completer completer

	// Only the goroutine that reads the keyboard uses these.
	rest   string // the first lines of a multiline entry
	filled bool   // full has printed its warning

	hint bool // explain has printed its text; for the goroutine that reads the pipe

	mu        sync.Mutex
	calls     []*call    // running calls, latest last
	callEnded *sync.Cond // signals the end of a call
	leaving   bool       // reject new calls
	lost      bool       // a call had no response at the end of the conversation
}

// The prompts before a new line and before a continued line.
const (
	promptText = "> "
	promptMore = "… "
)

// run shows the prompt until the user or the peer ends the conversation.
func (p *prompt) run() (err error) {
	p.fatal, p.callEnded = make(chan error, 1), sync.NewCond(&p.mu)
	p.past = openHistory()
	p.screen, err = format.OpenPrompt(os.Stdin, os.Stdout, format.PromptOptions{
		Text: promptText, Interrupt: p.interrupt, Complete: p.complete, Full: p.full, History: p.past,
	})
	if err != nil {
		return wire.NewFault(wire.IO, "the terminal: "+err.Error(), err)
	}
	p.Env.Out.Prompt.Store(p.screen)
	defer p.Env.Console.Above(p.screen)()
	defer p.screen.Close()
	p.Env.Console.Note("METHOD key=value makes a call; a {message} is sent unchanged; Ctrl-C cancels, Ctrl-D quits")
	if p.Endpoint.Demo != "" {
		p.ask() // a peer in this process responds at once
	}
	received, left := make(chan error, 1), make(chan struct{})
	go func() {
		defer wire.Guard()
		received <- p.show()
	}()
	go func() {
		defer close(left)
		p.listen()
	}()
	select {
	case err = <-received:
		received <- nil
		err = p.ended(err)
	case <-left:
	case err = <-p.fatal:
	case <-p.Deadline.Ctx.Done():
		err = env.Cause(p.Deadline.Ctx, p.Deadline.Ctx.Err())
	}
	p.leave()
	return errors.Join(err, <-received)
}

// ended returns the outcome after the peer has ended the conversation. Failed calls, which the prompt has reported,
// determine the exit status.
func (p *prompt) ended(err error) error {
	p.await()
	p.mu.Lock()
	defer p.mu.Unlock()
	err = errors.Join(err, p.Pipe.Err())
	switch f := cmdline.Worst(err); {
	case p.lost && (f == nil || f.Kind == wire.Closed):
		return cmdline.CommandStatus{Code: cmdline.StatusOf(wire.Closed).Code}
	case err != nil:
		return err
	}
	p.Env.Console.Note("the peer closed the connection")
	return nil
}

// await waits at most CloseTimeout for the end of all calls.
func (p *prompt) await() {
	ctx, done := context.WithTimeout(context.Background(), env.CloseTimeout)
	defer done()
	defer context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.callEnded.Broadcast()
	})()
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.calls) > 0 && ctx.Err() == nil {
		p.callEnded.Wait()
	}
}

// leave cancels the running calls on the peer.
func (p *prompt) leave() {
	p.mu.Lock()
	p.leaving = true
	for _, c := range p.calls {
		c.deadline.Cancel(errLeaving)
	}
	p.mu.Unlock()
	p.await()
	ctx, done := env.CloseContext(p.Deadline.Ctx)
	defer done()
	_ = p.Pipe.Finish(ctx)
	p.Pipe.Stop()
}

// show prints messages outside of calls.
func (p *prompt) show() error {
	ctx, done := env.WithCloseDelay(p.Deadline.Ctx)
	defer done()
	for {
		m, idle, err := p.Pipe.Recv()
		if err == io.EOF {
			p.Print.Idle()
			return nil
		}
		p.mu.Lock()
		leaving := p.leaving
		p.mu.Unlock()
		if leaving {
			return nil // the user has ended the prompt
		}
		p.Deadline.Touch()
		if m.Event != nil {
			p.Env.Console.Event(*m.Event)
		}
		if m.Raw == nil {
			continue
		}
		if _, err := p.Print.Print(ctx, &m, &wire.Event{Kind: wire.Data, Data: m.Raw}); err != nil {
			p.failed(err)
		}
		if idle || m.Kind == wire.Request {
			p.Print.Idle()
		}
		if m.Kind == wire.Request {
			p.explain(m)
		}
	}
}

// explain prints, once, how to respond to a request from the peer.
func (p *prompt) explain(m wire.Message) {
	id := format.Cut(string(scan.Get(m.Raw, "id")), 40)
	if p.hint || id == "" || scan.Get(m.Raw, "method") == nil { // not a JSON-RPC request
		return
	}
	p.hint = true
	p.Env.Console.Note(fmt.Sprintf(`no hook answers this request; type {"id":%s,"result":…} or {"id":%s,"error":{"code":…,"message":…}}`, id, id))
}

// failed shows an error. The prompt continues if rpcx can still print.
func (p *prompt) failed(err error) {
	f := cmdline.Worst(err)
	if f == nil {
		return
	}
	if f.Kind == wire.IO || f.Kind == wire.PipeClosed || f.Kind == wire.Internal {
		select {
		case p.fatal <- err:
		default:
		}
		return
	}
	p.Print.Idle()
	p.Env.Console.Error(f, cmdline.StatusOf(f.Kind).Code)
}
