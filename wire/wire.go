// Package wire defines the types that all other packages share: connections,
// messages, events and failures. It does no I/O.
package wire

import (
	"context"
	"io"
)

// A Conn carries whole messages in both directions, in order. One goroutine may call Recv while any
// number call Send. It knows no contexts: these belong to calls.
type Conn interface {
	// Recv returns the next message. Its bytes are valid until the next Recv.
	//
	// It returns io.EOF when the peer sends no more but may still be sent
	// to (half-close); a *CloseError when the connection is gone in both
	// directions; a *Fault of kind Protocol when the peer broke the framing
	// (the connection is of no more use then).
	Recv() ([]byte, error)
	// Send writes one message. It neither keeps nor changes msg.
	Send(msg []byte) error
	// Close ends the connection in good order, unblocks Recv and Send, may be
	// called twice and is bounded in time.
	Close() error
}

// An Idler is a Conn that says when Recv is about to wait for input. The peer uses that moment to
// deliver the messages that it has collected, many at once.
type Idler interface {
	// OnIdle sets f, which Recv calls on its own goroutine each time before it waits for bytes. It
	// must be set before the first Recv; nil removes it.
	OnIdle(f func())
}

// A Buffered is a Conn that may read more than one message at a time, so that the peer can route
// these together.
type Buffered interface {
	// Buffered appends the messages that have been read ahead to msgs, until it has most elements; it never waits. Recv
	// returns the error after them. The bytes are valid until the next Recv, like those that Recv has returned.
	Buffered(msgs [][]byte, most int) [][]byte
}

// A Batcher is a Conn that can queue messages until Flush, so that many leave in one write. Its Send is SendBuffered
// followed by Flush.
type Batcher interface {
	// SendBuffered is Send, but the bytes may stay in a buffer until Flush.
	SendBuffered(msg []byte) error
	// Flush writes the queued messages.
	Flush() error
}

// A CloserWith is a Conn whose protocol carries a close code and a reason
// (WebSocket).
type CloserWith interface {
	// CloseWith is Close with a code and a reason for the peer.
	CloseWith(code int, reason string) error
}

// A HalfCloser is a Conn that can end its sending direction and still receive (a child's stdin,
// TCP).
type HalfCloser interface {
	// CloseSend tells the peer that nothing more will be sent.
	CloseSend() error
}

// A Prober is a Conn that can send bytes without a meaning, such as a blank between messages, so
// that the system notices if the peer has gone.
type Prober interface {
	// Probe sends such bytes, unless a message is being written.
	Probe() error
}

// An Exchanger is a Conn on which each sent message is an exchange of its own (an HTTP POST), which
// ends with the context of its call. The peer calls Exchange in place of Send; Recv of such a Conn
// only waits for Close.
type Exchanger interface {
	// Exchange sends msg and calls recv for each message of the reply, in order; the bytes are
	// valid during that call only. It returns when the reply has ended; a failure is a *Fault.
	Exchange(ctx context.Context, msg []byte, recv func(msg []byte)) error
}

// sentKey is the context key of the function given to WithSent.
type sentKey struct{}

// WithSent returns a context for an Exchange that makes it call sent when a connection has been
// made and the message is being sent. sent may be called several times, from any goroutine.
func WithSent(ctx context.Context, sent func()) context.Context {
	return context.WithValue(ctx, sentKey{}, sent)
}

// Sent calls the function that WithSent has put into ctx, if any.
func Sent(ctx context.Context) {
	if sent, ok := ctx.Value(sentKey{}).(func()); ok {
		sent()
	}
}

// A SingleExchange is a Conn that carries a single exchange of the peer (an HTTP POST to a listener). It is closed after the
// responses to its messages, which only the peer's patience bounds.
type SingleExchange interface {
	// SingleExchange is a marker and does nothing.
	SingleExchange()
}

// SingleResponse is a Conn whose peer may accept only a single message, the response to its request.
type SingleResponse interface {
	// SingleResponse reports whether that is so.
	SingleResponse() bool
}

// A Framing makes a Conn out of a stream of bytes.
type Framing func(rwc io.ReadWriteCloser, o Options) Conn

// Options are the limits and observers of a framing.
type Options struct {
	// MaxMessage is the greatest length of a message, in bytes.
	// 0 means DefaultMaxMessage.
	MaxMessage int
	// MaxDepth is the greatest nesting of arrays and objects.
	// 0 means DefaultMaxDepth.
	MaxDepth int
	// NoiseLimit (negated where they are skipped from peers that are not children, too)
	// is the number of lines that are not JSON and are skipped; a further one is an
	// error. 0 means that the first one is an error.
	NoiseLimit int
	// Noise gets each skipped line, without its end. May be nil. The bytes are
	// valid during the call.
	Noise func(line []byte)
	// Head has the header lines, each with its CRLF, that the framing header writes before each message beside
	// Content-Length.
	Head []byte
	// First gets the first bytes of a byte stream as they come in, or the first message. The bytes
	// are valid during the call. May be nil.
	First func(b []byte)
	// Seen gets all bytes that are read and written, unchanged. It must not keep them. May be nil.
	Seen func(d Direction, b []byte)
	// Sentinel says that, on a line, everything up to the last byte 0xFF is dropped: QEMU's guest
	// agent marks the beginning of an answer with this byte.
	Sentinel bool
	// Around is the text around the JSON of a WebSocket's messages; nil means there is none.
	Around *Around
	// Strict is for a listener. A line that is a JSON value but neither object nor array is a
	// message, for the dialect to answer. The framing header refuses, before the first message,
	// header lines other than Content-Length and Content-Type, so that a browser's HTTP request can
	// never be taken for messages.
	Strict bool
	// Whole is for a client. A message that the end of the input cuts off is dropped, and the end
	// is a *CloseError of ErrCut. Without Whole it is returned as a message, for the dialect to
	// answer, if the framing can tell it from noise; else the end is a *Fault.
	Whole bool
}

// The limits if the user sets none.
const (
	DefaultMaxMessage = 64 << 20 // bytes
	DefaultMaxDepth   = 1000     // arrays and objects inside each other
)

// WithDefaults returns o with every zero limit replaced by its default.
func (o Options) WithDefaults() Options {
	if o.MaxMessage <= 0 {
		o.MaxMessage = DefaultMaxMessage
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = DefaultMaxDepth
	}
	return o
}

// A Direction is the direction of a message, as seen from this process.
type Direction uint8

// The two directions.
const (
	Send Direction = iota
	Recv
)

// String returns "send" or "recv", as in a tape.
func (d Direction) String() string {
	if d == Send {
		return "send"
	}
	return "recv"
}

// A Tap is called with every message, byte for byte; with a sent one before it is written. It must
// not keep the bytes. It is called from several goroutines.
type Tap func(d Direction, msg []byte)

// A Record is a Tap that is called once for several messages: those that came together, in order,
// before any of them is handled.
type Record func(d Direction, first []byte, more ...[]byte)

// A Binary says what a binary WebSocket message means to a dialect, whose own
// messages are text.
type Binary uint8

// What is done with a binary message.
const (
	BinaryAccept Binary = iota // it is read like a text message
	BinaryIgnore               // it is dropped
	BinaryRefuse               // the connection is closed with status 1003
)
