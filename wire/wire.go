// Package wire defines the common types of all packages: connections, messages, events and failures. It does no I/O.
package wire

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"time"
)

// A Conn carries whole messages in both directions, in order. One goroutine may call Recv, and any number may call
// Send. A Conn uses no contexts, because contexts belong to calls.
type Conn interface {
	// Recv returns the next message. Its bytes are valid until the next Recv.
	//
	// Recv returns io.EOF when the peer sends nothing more but still receives (half-close), and a *CloseError when the
	// connection has ended in both directions. It returns a *Fault of kind Protocol when the peer breaks the framing,
	// after which the connection is unusable.
	Recv() ([]byte, error)
	// Send writes one message. It neither retains nor changes msg.
	Send(msg []byte) error
	// Close ends the connection properly and unblocks Recv and Send. Further calls are allowed. It returns after a
	// bounded time.
	Close() error
}

// An Idler is a Conn that reports when Recv is about to wait for input. Package peer then delivers the messages that it
// has collected.
type Idler interface {
	// OnIdle sets f, which Recv calls on its own goroutine each time before it waits for bytes. It must precede the
	// first Recv. nil removes f.
	OnIdle(f func())
}

// A Buffered is a Conn that can read several messages at once, so they can be routed together.
type Buffered interface {
	// Buffered appends up to most messages that have been read ahead to msgs. It never waits. If an error follows these
	// messages, the next Recv returns it. The bytes are valid until the next Recv.
	Buffered(msgs [][]byte, most int) [][]byte
}

// A Batcher is a Conn that can queue messages until Flush and send them with one write. Its Send is SendBuffered
// followed by Flush.
type Batcher interface {
	// SendBuffered is like Send, but may leave the bytes in a buffer until Flush.
	SendBuffered(msg []byte) error
	// Flush writes the queued messages.
	Flush() error
}

// A BinarySender is a Conn whose protocol distinguishes text (UTF-8) from other bytes, such as WebSocket.
type BinarySender interface {
	// SendBinary is like Send, but for bytes other than text.
	SendBinary(msg []byte) error
}

// A CloserWith is a Conn whose protocol has close codes and reasons, such as WebSocket.
type CloserWith interface {
	// CloseWith is like Close, but also sends a code and a reason to the peer.
	CloseWith(code int, reason string) error
}

// CloseWith closes c with a code other than 0, if its protocol has codes.
func CloseWith(c Conn, code int, reason string) error {
	if with, ok := c.(CloserWith); ok && code != 0 {
		return with.CloseWith(code, reason)
	}
	return c.Close()
}

// A HalfCloser is a Conn that can close its sending direction and continue to receive, such as a child's stdin or TCP.
type HalfCloser interface {
	// CloseSend signals to the peer that no more messages follow.
	CloseSend() error
}

// A Prober is a Conn that can send meaningless bytes, such as a blank between messages. The system can then detect that
// the peer has disappeared.
type Prober interface {
	// Probe sends such bytes unless a message is being written.
	Probe() error
}

// An Exchanger is a Conn on which each sent message is a separate exchange (an HTTP POST), which ends with the context
// of its call. Package peer calls Exchange instead of Send. Recv of an Exchanger only waits for Close.
type Exchanger interface {
	// Exchange sends msg and calls recv for each message of the reply, in order. The bytes are valid during that call.
	// Exchange returns at the end of the reply. A failure is a *Fault.
	Exchange(ctx context.Context, msg []byte, recv func(msg []byte)) error
}

type sentKey struct{}

// WithSent returns a context in which Exchange calls sent when the connection is open and the message is being sent.
// Any goroutine may call sent, several times.
func WithSent(ctx context.Context, sent func()) context.Context {
	return context.WithValue(ctx, sentKey{}, sent)
}

// Sent calls the function that WithSent stored in ctx, if any.
func Sent(ctx context.Context) {
	if sent, ok := ctx.Value(sentKey{}).(func()); ok {
		sent()
	}
}

// A SingleExchange is a Conn for one exchange that the peer started (an HTTP POST to a listener). It closes after the
// responses to the messages of that exchange. Only the peer limits the time for them.
type SingleExchange interface {
	// SingleExchange does nothing. It marks the type.
	SingleExchange()
}

// A SingleResponse is a Conn whose peer may accept only one message, the response to its request.
type SingleResponse interface {
	// SingleResponse reports whether the peer accepts only one message.
	SingleResponse() bool
}

// A Framing makes a Conn from a byte stream.
type Framing func(rwc io.ReadWriteCloser, o Options) Conn

// Options are the limits and callbacks of a framing.
type Options struct {
	// MaxMessage bounds a message in bytes (DefaultMaxMessage by default).
	MaxMessage int
	// MaxDepth bounds the nesting of arrays and objects (DefaultMaxDepth by default).
	MaxDepth int
	// NoiseLimit is how many lines without JSON the framing skips. The next such line is an error. If the limit is
	// negative, its absolute value applies, also to peers that are not children.
	NoiseLimit int
	// Noise receives each skipped line without its line break. The bytes are valid during the call. Noise may be nil.
	Noise func(line []byte)
	// Head contains additional header lines, each with its CRLF, that the framing named header writes before each
	// message.
	Head []byte
	// First receives the first bytes of a byte stream as they arrive, or the first message. The bytes are valid during
	// the call. First may be nil.
	First func(b []byte)
	// Seen receives all bytes that are read or written. It must not retain them. It may be nil.
	Seen func(d Direction, b []byte)
	// Sentinel drops everything up to and including the last byte 0xFF in a line or value. QEMU's guest agent marks the start of a
	// response with that byte. It applies to the framings line and concat.
	Sentinel bool
	// Around describes the text around the JSON of WebSocket messages. It may be nil.
	Around *Around
	// Strict is set for a listener. A line with a scalar JSON value is then a message, which the dialect answers.
	// Before the first message, the framing named header refuses header lines other than Content-Length and
	// Content-Type, because a browser's HTTP request must never be read as messages.
	Strict bool
	// Whole is set for a client. The framing then drops a message that the end of the input cuts off, and Recv returns
	// a *CloseError with ErrCut. Without Whole, Recv returns such a message for the dialect to answer if the framing
	// can distinguish it from noise, and otherwise a *Fault.
	Whole bool
}

const (
	DefaultMaxMessage = 64 << 20 // in bytes
	DefaultMaxDepth   = 1000     // nested arrays and objects
)

// WithDefaults returns a copy of o with the default for each zero limit.
func (o Options) WithDefaults() Options {
	o.MaxMessage = cmp.Or(o.MaxMessage, DefaultMaxMessage)
	o.MaxDepth = cmp.Or(o.MaxDepth, DefaultMaxDepth)
	return o
}

// A Direction is the direction of a message as seen by this process.
type Direction uint8

const (
	Send Direction = iota
	Recv
)

// String returns "send" or "recv", as on tapes.
func (d Direction) String() string { return [...]string{Send: "send", Recv: "recv"}[d] }

// A Tap receives every message, byte for byte. It receives a sent message before the write. It must not retain the
// bytes. Several goroutines can call it at the same time.
type Tap func(d Direction, msg []byte)

// A Record is a Tap that receives messages that arrived together in one call, in order, before any of them is handled.
type Record func(d Direction, first []byte, more ...[]byte)

// A Binary determines how a dialect with text messages treats binary WebSocket messages.
type Binary uint8

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

// IsClosed reports whether c is closed. c must not carry values.
func IsClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Sleep waits for d. It returns false if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	Either(t.C, ctx.Done())
	return ctx.Err() == nil
}

// Either waits for a value from one of two channels, or for its end.
func Either[A, B any](a <-chan A, b <-chan B) {
	select {
	case <-a:
	case <-b:
	}
}

// Go runs f in a goroutine. The channel is closed when f has returned.
func Go(f func()) (done <-chan struct{}) {
	c := make(chan struct{})
	go func() {
		defer close(c)
		f()
	}()
	return c
}

// WithoutPath returns the cause of a failed operation on a file, without the file's name. Any other error is returned unchanged.
func WithoutPath(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Put sets in[key] to val, and creates the map if it is nil.
func Put[K comparable, V any](in *map[K]V, key K, val V) {
	if *in == nil {
		*in = map[K]V{}
	}
	(*in)[key] = val
}

// Map returns the results of f for the elements of list, or nil for an empty list.
func Map[T, U any](list []T, f func(T) U) (all []U) {
	for _, v := range list {
		all = append(all, f(v))
	}
	return all
}

// Find returns the first element of list for which is returns true, or nil.
func Find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
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
