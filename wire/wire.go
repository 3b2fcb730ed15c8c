// Package wire defines the types that all other packages share: connections,
// messages, events and failures. It does no I/O.
package wire

import (
	"context"
	"io"
)

// A Conn carries whole messages in both directions, in order. One goroutine
// may call Recv while any number call Send. Contexts belong to calls, not to
// the pipe.
type Conn interface {
	// Recv returns the next message. Its bytes are valid until the next Recv.
	//
	// It returns io.EOF when the far side sends no more but may still be sent
	// to (half-close); a *CloseError when the connection is gone in both
	// directions; a *Fault of kind Protocol when the far side broke the framing
	// (the connection is of no more use then).
	Recv() ([]byte, error)
	// Send writes one message. It neither keeps nor changes msg.
	Send(msg []byte) error
	// Close ends the connection in good order, unblocks Recv and Send, may be
	// called twice and is bounded in time.
	Close() error
}

// An Idler is a Conn that can say when Recv is about to wait. The peer hands
// over what it has collected at that time, many messages at once.
type Idler interface {
	// OnIdle sets f, which Recv calls on its own goroutine each time before it
	// waits for bytes. Set before the first Recv; nil for none.
	OnIdle(f func())
}

// A Buffered is a Conn that reads more than one message at a time. The peer routes
// what has come together in one go.
type Buffered interface {
	// Buffered appends to msgs the messages that come next, as far as they have been read
	// already, until there are most; it never waits. Of what is behind them Recv knows
	// more. The bytes are valid until the next Recv, and so are those that Recv has returned.
	Buffered(msgs [][]byte, most int) [][]byte
}

// A Batcher is a Conn that can hold back what is sent until Flush, so that many
// messages leave in one write. Send on such a Conn is SendBuffered and Flush.
type Batcher interface {
	// SendBuffered is Send, but the bytes may stay in a buffer until Flush.
	SendBuffered(msg []byte) error
	// Flush writes what is held back.
	Flush() error
}

// A CloserWith is a Conn whose protocol carries a close code and a reason
// (WebSocket).
type CloserWith interface {
	// CloseWith is Close with a code and a reason for the far side.
	CloseWith(code int, reason string) error
}

// A HalfCloser is a Conn that can say that no more will be sent, and go on
// receiving (a child's stdin, TCP).
type HalfCloser interface {
	// CloseSend tells the far side that nothing more comes.
	CloseSend() error
}

// A Prober is a Conn that can send something that is no message and means nothing
// to the far side, such as a blank between messages, by which the system finds out
// whether there still is one.
type Prober interface {
	// Probe sends it, unless a message is on its way.
	Probe() error
}

// An Exchanger is a Conn on which one sent message is one exchange (an HTTP
// POST) that the context of its call can end. The peer then uses Exchange in
// place of Send; Recv of such a Conn only waits for Close.
type Exchanger interface {
	// Exchange sends msg and calls recv for each message of the reply, in order;
	// the bytes are valid during that call only. It returns when the reply has
	// ended, with a *Fault when it failed.
	Exchange(ctx context.Context, msg []byte, recv func(msg []byte)) error
}

// sentKey is the key of the function of WithSent.
type sentKey struct{}

// WithSent returns a context for an Exchange, which calls sent when a connection stands and the message goes out over it.
// It may call it several times, and from any goroutine.
func WithSent(ctx context.Context, sent func()) context.Context {
	return context.WithValue(ctx, sentKey{}, sent)
}

// Sent calls the function that WithSent has put into ctx, if any.
func Sent(ctx context.Context) {
	if sent, ok := ctx.Value(sentKey{}).(func()); ok {
		sent()
	}
}

// A OneShot is a Conn that carries one exchange of the far side (an HTTP POST
// to our listener): after the answers to what came first it is closed, and how
// long that takes is bounded by the far side's patience alone.
type OneShot interface {
	// OneShot does nothing.
	OneShot()
}

// A Framing makes a Conn out of a stream of bytes.
type Framing func(rwc io.ReadWriteCloser, o Options) Conn

// Options are the limits that a framing keeps.
type Options struct {
	// MaxMessage is the greatest length of a message, in bytes.
	// 0 means DefaultMaxMessage.
	MaxMessage int
	// MaxDepth is the greatest nesting of arrays and objects.
	// 0 means DefaultMaxDepth.
	MaxDepth int
	// NoiseLimit is the number of lines that are not JSON which are skipped
	// before they are an error. 0 means that the first one is an error.
	NoiseLimit int
	// Noise gets each skipped line, without its end. May be nil. The bytes are
	// valid during the call.
	Noise func(line []byte)
	// Head holds the header lines, each with its CRLF, that the framing header writes
	// before each message beside its length.
	Head []byte
	// First gets what comes first, of a stream of bytes or as a message, once or as it
	// comes in; the bytes are valid during the call. May be nil.
	First func(b []byte)
	// Seen gets all bytes that are read, and all that are written, as they are. It keeps none. May be nil.
	Seen func(d Direction, b []byte)
	// Sentinel says that, on a line, what stands before the last byte 0xFF is no part of
	// the message: QEMU's guest agent marks an answer with it.
	Sentinel bool
	// Strict is for a listener: a line that is a JSON value but neither object nor
	// array is a message, for the dialect to answer. It refuses, before the first message, header lines that are neither
	// Content-Length nor Content-Type (header on a listener: so that a browser's
	// HTTP request can never be taken for messages).
	Strict bool
	// Whole is for a client: what comes of a message that the end of the input cuts off
	// is dropped, and the end is a *CloseError of ErrCut. Else it is a message for the
	// dialect to answer, where the framing can tell it from noise, or a *Fault.
	Whole bool
}

// The limits where the user sets none.
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

// A Direction says which way a message went, seen from us.
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

// A Tap sees every message, byte for byte; a sent one before it is written. It
// keeps no bytes. It is called from several goroutines.
type Tap func(d Direction, msg []byte)

// A Record sees every message as a Tap does, but many with one call: those that came
// together, in order, before anything is done about any of them.
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
