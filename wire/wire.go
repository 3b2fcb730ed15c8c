// Package wire defines the types that all other packages share: connections,
// messages, events and failures. It does no I/O.
package wire

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"io"
)

// A Conn carries whole messages in both directions, in order. One goroutine may call Recv while any number call Send.
// It does not use contexts, which belong to calls.
type Conn interface {
	// Recv returns the next message. Its bytes are valid until the next Recv.
	//
	// It returns io.EOF when the peer sends no more but still receives (half-close), a *CloseError when the connection
	// has ended in both directions, and a *Fault of kind Protocol when the peer broke the framing, after which the
	// connection is unusable.
	Recv() ([]byte, error)
	// Send writes one message. It does not keep or change msg.
	Send(msg []byte) error
	// Close ends the connection properly and unblocks Recv and Send. It may be called twice, and its time is limited.
	Close() error
}

// An Idler is a Conn that reports when Recv is about to wait for input. At that moment, the peer package delivers the
// messages that it has collected.
type Idler interface {
	// OnIdle sets f, which Recv calls on its own goroutine each time before it waits for bytes. It must be called
	// before the first Recv. nil removes f.
	OnIdle(f func())
}

// A Buffered is a Conn that may read several messages at a time, so that they can be routed together.
type Buffered interface {
	// Buffered appends the messages that have been read ahead to msgs, up to most elements. It never waits. Recv
	// returns the error that follows them. The bytes are valid until the next Recv, like those that Recv returns.
	Buffered(msgs [][]byte, most int) [][]byte
}

// A Batcher is a Conn that can queue messages until Flush, so that one write sends many. Its Send is SendBuffered
// followed by Flush.
type Batcher interface {
	// SendBuffered is like Send, but the bytes may stay in a buffer until Flush.
	SendBuffered(msg []byte) error
	// Flush writes the queued messages.
	Flush() error
}

// A BinarySender is a Conn whose protocol tells text, in UTF-8, from other bytes (WebSocket).
type BinarySender interface {
	// SendBinary is like Send, for bytes that are not text.
	SendBinary(msg []byte) error
}

// A CloserWith is a Conn whose protocol has close codes and reasons (WebSocket).
type CloserWith interface {
	// CloseWith is like Close, and sends a code and a reason to the peer.
	CloseWith(code int, reason string) error
}

// A HalfCloser is a Conn that can close its sending direction and still receive (a child's stdin, TCP).
type HalfCloser interface {
	// CloseSend signals to the peer that no more messages follow.
	CloseSend() error
}

// A Prober is a Conn that can send meaningless bytes, such as a blank between messages, so that the system detects
// whether the peer has disappeared.
type Prober interface {
	// Probe sends such bytes unless a message is being written.
	Probe() error
}

// An Exchanger is a Conn on which each sent message is its own exchange (an HTTP POST), which ends with the context of
// its call. The peer package calls Exchange instead of Send. Recv of such a Conn only waits for Close.
type Exchanger interface {
	// Exchange sends msg and calls recv for each message of the reply, in order. The bytes are valid only during that
	// call. It returns when the reply has ended. A failure is a *Fault.
	Exchange(ctx context.Context, msg []byte, recv func(msg []byte)) error
}

// sentKey is the context key for the function passed to WithSent.
type sentKey struct{}

// WithSent returns a context in which Exchange calls sent when the connection is open and the message is being sent.
// sent may be called several times, from any goroutine.
func WithSent(ctx context.Context, sent func()) context.Context {
	return context.WithValue(ctx, sentKey{}, sent)
}

// Sent calls the function that WithSent stored in ctx, if any.
func Sent(ctx context.Context) {
	if sent, ok := ctx.Value(sentKey{}).(func()); ok {
		sent()
	}
}

// A SingleExchange is a Conn for one exchange that the peer started (an HTTP POST to a listener). It is closed after
// the responses to the messages of that exchange; only the peer limits the time for them.
type SingleExchange interface {
	// SingleExchange is a marker and does nothing.
	SingleExchange()
}

// A SingleResponse is a Conn whose peer may accept only one message, the response to its request.
type SingleResponse interface {
	// SingleResponse reports whether the peer accepts only one message.
	SingleResponse() bool
}

// A Framing makes a Conn out of a stream of bytes.
type Framing func(rwc io.ReadWriteCloser, o Options) Conn

// Options are the limits and callbacks of a framing.
type Options struct {
	// MaxMessage is the maximum length of a message, in bytes. 0 stands for DefaultMaxMessage.
	MaxMessage int
	// MaxDepth is the maximum nesting of arrays and objects. 0 stands for DefaultMaxDepth.
	MaxDepth int
	// NoiseLimit is the number of lines without JSON that are skipped; the next such line is an error. A negative limit
	// has the same absolute value, and also applies to peers that are not children. If NoiseLimit is 0, the first such
	// line is an error.
	NoiseLimit int
	// Noise receives each skipped line, without its line break. It may be nil. The bytes are valid during the call.
	Noise func(line []byte)
	// Head holds the header lines, each with its CRLF, that the framing named header writes before each message in
	// addition to Content-Length.
	Head []byte
	// First receives the first bytes of a byte stream as they arrive, or the first message. The bytes are valid during
	// the call. It may be nil.
	First func(b []byte)
	// Seen receives all bytes that are read and written, unchanged. It must not keep them. It may be nil.
	Seen func(d Direction, b []byte)
	// Sentinel drops, in a line or a value, everything up to and including a byte 0xFF: QEMU's guest agent marks the
	// beginning of an answer with this byte. It applies to the framings line and concat.
	Sentinel bool
	// Around is the text around the JSON of a WebSocket's messages; nil means there is none.
	Around *Around
	// Strict is set for a listener. A line with a JSON value other than an object or an array is then a message, which
	// the dialect answers. Before the first message, the framing named header refuses header lines other than
	// Content-Length and Content-Type, so that it never mistakes an HTTP request of a browser for messages.
	Strict bool
	// Whole is set for a client. The framing then drops a message that the end of the input cuts off, and Recv returns
	// a *CloseError with ErrCut. Without Whole, Recv returns such a message for the dialect to answer, if the framing
	// can distinguish it from noise. Otherwise Recv returns a *Fault.
	Whole bool
}

// These are the limits that apply unless the user sets others.
const (
	DefaultMaxMessage = 64 << 20 // bytes
	DefaultMaxDepth   = 1000     // nested arrays and objects
)

// WithDefaults returns a copy of o in which defaults replace all limits that are zero.
func (o Options) WithDefaults() Options {
	o.MaxMessage = cmp.Or(o.MaxMessage, DefaultMaxMessage)
	o.MaxDepth = cmp.Or(o.MaxDepth, DefaultMaxDepth)
	return o
}

// A Direction is the direction of a message as seen by this process.
type Direction uint8

// These are the two directions.
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

// A Tap receives every message, byte for byte. It receives a sent message before that message is written. It must not
// keep the bytes, and is called from several goroutines.
type Tap func(d Direction, msg []byte)

// A Record is like a Tap, but is called once, in order, for all messages that arrived together, before any of them is
// handled.
type Record func(d Direction, first []byte, more ...[]byte)

// A Binary determines how a dialect whose own messages are text treats binary WebSocket messages.
type Binary uint8

// These are the ways to treat a binary message.
const (
	BinaryAccept Binary = iota // read like a text message
	BinaryIgnore               // dropped
	BinaryRefuse               // the connection is closed with status 1003
)

// Wake sends a value to a channel with a buffer of one, unless the buffer is full.
func Wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// IsClosed reports whether c is closed. No values may be sent on c.
func IsClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Put sets in[key] to val. If the map is nil, Put makes it first.
func Put[K comparable, V any](in *map[K]V, key K, val V) {
	if *in == nil {
		*in = map[K]V{}
	}
	(*in)[key] = val
}

// Map returns the results of f for the elements of list, or nil if list is empty.
func Map[T, U any](list []T, f func(T) U) (all []U) {
	for _, v := range list {
		all = append(all, f(v))
	}
	return all
}

// SetOf returns a set of the given names.
func SetOf(names []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// RandomHex returns n random bytes in hexadecimal digits.
func RandomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
