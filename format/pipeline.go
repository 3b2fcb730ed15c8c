package format

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"strings"
	"sync"

	"rpcx/format/render"
	"rpcx/wire"
	"rpcx/wire/jq"
	"rpcx/wire/scan"
)

// A Pipeline prints the events of one command to stdout. It is safe for concurrent use. Its methods block when the
// writer blocks.
type Pipeline struct {
	mu      sync.Mutex
	o       Options
	out     *bufio.Writer
	sel     *jq.Program
	until   *jq.Program
	filter  *jq.Program
	render  *render.Set
	checker expectationChecker
	backlog *backlog // the next messages, or nil
	scratch []byte   // reused memory for lines
	items   int64    // the number of data events that were printed
	stopped bool
}

// New returns a Pipeline for the options o. It returns a usage Fault that names the flag if an expression or template
// is wrong, or if flags contradict each other.
func New(w io.Writer, o Options) (*Pipeline, error) {
	if o.Events && o.Raw {
		return nil, wire.NewFault(wire.Usage, "--events and --messages cannot be combined", nil)
	}
	if o.Strings == AsText && o.Template != "" {
		return nil, wire.NewFault(wire.Usage, "--template and -r cannot be combined", nil)
	}
	p := &Pipeline{o: o}
	if err := p.compile(); err != nil {
		return nil, err
	}
	if o.BeforeWrite != nil {
		w = notifyWriter{w, o.BeforeWrite}
	}
	p.out = bufio.NewWriterSize(w, bufferSize)
	return p, nil
}

// Print prints an event as the options require. m is the event's message. stop reports that no further event is needed:
// the limit was reached, --until was met (its line has been printed), or err is not nil.
//
// Print ignores events that have no line, such as progress without --events. It does not print a line that fails an
// expectation, but returns a Fault of kind Expectation. If jq or a template fails, it returns a Fault of kind Helper.
// If the writer fails, this and all later calls return a Fault of kind PipeClosed or IO.
func (p *Pipeline) Print(ctx context.Context, m *wire.Message, ev *wire.Event) (stop bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.fault(); err != nil || p.stopped {
		return true, err
	}
	line := p.line(m, ev)
	if line == nil {
		return false, nil
	}
	if ok, err := p.selects(ctx, m); err != nil || !ok {
		return err != nil, err
	}
	if p.backlog != nil {
		p.backlog.turn(m)
	}
	stop, err = p.take(ctx, line, ev)
	p.stopped = stop && err == nil
	return stop || err != nil, err
}

func (p *Pipeline) take(ctx context.Context, line []byte, ev *wire.Event) (stop bool, err error) {
	if p.until != nil {
		if stop, err = p.until.Truth(ctx, line); err != nil {
			return true, named("--until", err)
		}
	}
	if err := p.checker.line(ctx, &p.o, line); err != nil {
		return true, err
	}
	written, err := p.emit(ctx, line, ev.ContentType)
	if written && ev.Kind == wire.Data {
		p.items++
		stop = stop || p.items == p.o.Count
	}
	return stop, err
}

var null = []byte("null")

// line returns the line for an event, before --jq and the template are applied, or nil.
func (p *Pipeline) line(m *wire.Message, ev *wire.Event) []byte {
	switch {
	case p.o.Raw:
		return m.Raw
	case ev.Kind == wire.Opened:
		return nil
	case p.o.Events:
		p.scratch = ev.AppendJSON(p.scratch[:0])
		return p.scratch
	case ev.Kind != wire.Data:
		return nil
	case ev.Data == nil:
		return null
	}
	return ev.Data
}

// write writes a value as a line.
func (p *Pipeline) write(ctx context.Context, val []byte, contentType string) error {
	switch {
	case p.o.Strings == FromBase64:
		return p.writeDecoded(val)
	case p.render != nil && p.render.Has(contentType):
		return p.writeTemplate(ctx, val, contentType)
	case p.o.Strings == AsText && scan.Type(val) == 's':
		text, _ := scan.Text(val)
		if p.o.Terminal {
			text = Clean(text)
		}
		p.out.WriteString(text)
	case p.style() != (style{}):
		p.out.Write(p.style().append(p.out.AvailableBuffer(), val))
	case !p.o.Raw && hasBreak(val):
		p.out.Write(scan.Compact(p.out.AvailableBuffer(), val))
	default:
		p.out.Write(val)
	}
	return p.end()
}

// style returns the format of values for a terminal, or for --pretty.
func (p *Pipeline) style() style {
	return style{indent: p.o.Pretty && !p.o.Raw, color: p.o.Color && !p.o.Raw, escape: p.o.Terminal}
}

// writeDecoded writes the bytes that a base64 string encodes, in the standard or the URL alphabet.
func (p *Pipeline) writeDecoded(val []byte) error {
	text, ok := scan.Text(val)
	if !ok {
		return wire.NewFault(wire.Expectation, "--decode base64: a value is not a string: "+excerpt(val), nil)
	}
	text = strings.TrimRight(strings.Join(strings.Fields(text), ""), "=")
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(text, "-_") {
		encoding = base64.RawURLEncoding
	}
	b, err := encoding.DecodeString(text)
	if err != nil {
		return wire.NewFault(wire.Expectation, "--decode base64: a value is not base64: "+err.Error(), err)
	}
	p.out.Write(b)
	return p.fault()
}

// end ends a line, and releases the memory of a very long one.
func (p *Pipeline) end() error {
	if cap(p.scratch) > 1<<20 {
		p.scratch = nil
	}
	if p.o.Null {
		p.out.WriteByte(0)
	} else {
		p.out.WriteByte('\n')
	}
	return p.fault()
}

func (p *Pipeline) writeTemplate(ctx context.Context, val []byte, contentType string) error {
	clean := func(s string) string { return s }
	if p.o.Terminal {
		clean = Clean
	}
	text, err := p.render.Execute(ctx, p.out.AvailableBuffer(), contentType, val, clean)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return wire.NewFault(wire.Helper, "--template: "+err.Error(), err)
	}
	p.out.Write(bytes.TrimSuffix(text, []byte("\n")))
	return p.end()
}

// Error handles the error that ended a call, after Print has received the event. Without --expect-error, it returns
// false and nil: the error is the outcome of the command. If the error is the expected one, met is true, and Error
// checks and prints the error object, unless Print has printed the whole event or message. Any other error is a Fault
// of kind Expectation.
func (p *Pipeline) Error(ctx context.Context, e *wire.Error) (met bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.o.ExpectError == "" {
		return false, nil
	}
	if err := p.fault(); err != nil {
		return false, err
	}
	if err := p.checker.rpcError(&p.o, e); err != nil || p.o.Events || p.o.Raw {
		return err == nil, err
	}
	if err := p.checker.line(ctx, &p.o, e.JSON()); err != nil {
		return false, err
	}
	_, err = p.emit(ctx, e.JSON(), "")
	return err == nil, err
}

// Finish flushes the output. It returns an error if the whole output fails an expectation (--expect-any,
// --expect-count, --expect-error).
func (p *Pipeline) Finish() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f, ok := p.o.Debug.(wire.Flusher); ok {
		f.Flush() // messages from jq have no line breaks
	}
	if err := p.flush(); err != nil {
		return err
	}
	return p.checker.whole(&p.o, p.items)
}

func (p *Pipeline) flush() error {
	p.out.Flush()
	return p.fault()
}

// Flush writes the buffered bytes.
func (p *Pipeline) Flush() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.flush()
}

// Idle flushes the output. If that fails, the next Print returns the error. Idle must be called whenever no further
// message is waiting.
func (p *Pipeline) Idle() { _ = p.Flush() }
