// Package peer is the engine for calls in both directions over one connection, in any dialect. Clients and servers differ
// only in their handler.
//
// One goroutine reads, decodes and routes messages. Another one writes, many messages at once, and runs only while
// messages wait. Each request of the peer has its own goroutine. The peer's notifications share one, which keeps their
// order. All of them have ended when Close returns.
//
// Routing determines the owner of a message once (calls.owner). A response belongs to the local call with its id. An
// item belongs to the stream that it names, or else to the local call with its id. Any other message is a notification.
// Ids of the peer's requests are never compared with local ones.
package peer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer/ending"
	"rpcx/wire/peer/inbound"
)

// These are the defaults of Options.
const (
	defaultInbound = 1024 + 64
	defaultBuffer  = 8 << 20
	defaultDrain   = 60 * time.Second
	defaultClose   = 2 * time.Second
)

// Options configure a Peer. The zero value is usable.
type Options struct {
	// Handler returns the handler of the peer's messages, or nil. New calls it once, before reading, and the messages
	// that it sends are the first ones. Without a handler, each request gets -32601.
	Handler func(c dialect.Caller) dialect.Handler
	// MaxInbound bounds the peer's pending requests, including those that Incoming took (1,088 by default). At that
	// number, or at a total of 128 MiB, the reader stops. The reader must not stop while a local call is pending, a
	// stream is open or Incoming has taken requests. In that case, further requests get -32000 "busy", which is
	// retryable.
	MaxInbound int
	// Exchanges finds the responses to local requests on a listener whose exchanges are connections. Without it,
	// exchanges carry no local requests.
	Exchanges *Exchanges
	// Budget bounds the unsent bytes of all peers that share it. The default is 16 MiB for this peer.
	Budget *Budget
	// StreamBuffer bounds the queued bytes of a stream before the reader stops (8 MiB by default).
	StreamBuffer int
	// Lossy prevents the reader from stopping for a slow consumer. A Subscribe or Watch with more than StreamBuffer
	// bytes loses its oldest messages, and its next message is a wire.Gap event with their number. Any other stream
	// ends with a Fault of kind IO.
	Lossy bool
	// MaxMessage is the size of the largest message of the connection, in bytes (wire.DefaultMaxMessage by default). A
	// stream may exceed StreamBuffer by that size while the reader must not stop.
	MaxMessage int
	// Drain bounds how long requests are answered after the peer has closed its sending direction (60 s by default). A
	// wire.SingleExchange has no limit.
	Drain time.Duration
	// CloseTimeout bounds each step of Close (2 s by default).
	CloseTimeout time.Duration
	// Hurry ends when the caller of Close cannot wait any longer. Each step of Close then takes at most 200 ms. A nil
	// Hurry never ends.
	Hurry context.Context
	// Client reports that the peer is a server. A malformed message of a server gets no error. It is an event for
	// watches, for Incoming and, under its own name, for the handler.
	Client bool
	// Name is the peer's name in messages to the user, or "" for an only peer.
	Name string
	// Tap sees every message. It may be nil.
	Tap wire.Tap
	// Record sees every message before Tap. It costs less than Tap, because it runs once for all messages that were
	// read together. It may be nil.
	Record wire.Record
	// Note receives reports of events that failed no call but may interest a user. Several goroutines call it, without
	// locks. It may be nil.
	Note func(Note)
	// Incoming receives every request, notification and response of a Raw operation, and every response, item or
	// invalid JSON without a call, before its dispatch. It runs on the reader's goroutine, in the order of arrival, and
	// may retain the message. If it returns true, it has taken the message, and a request stays open until Answer or
	// RejectOpen. The reader reads nothing while Incoming runs. Incoming must not wait for a response. Close waits for
	// it. It may be nil.
	Incoming func(m wire.Message) bool
}

func (o Options) withDefaults() Options {
	o.MaxInbound = cmp.Or(max(o.MaxInbound, 0), defaultInbound)
	o.StreamBuffer = cmp.Or(max(o.StreamBuffer, 0), defaultBuffer)
	o.MaxMessage = cmp.Or(max(o.MaxMessage, 0), wire.DefaultMaxMessage)
	o.Drain = cmp.Or(max(o.Drain, 0), defaultDrain)
	o.CloseTimeout = cmp.Or(max(o.CloseTimeout, 0), defaultClose)
	return o
}

// A Peer is one end of a connection. It is safe for concurrent use.
//
// One mutex guards everything that changes. The parts (end, calls, outbox, requests, notifications) are data under that
// mutex. They have no locks or goroutines. The comment of each type states its rules. The caller of a method with the
// suffix Locked must hold the mutex.
type Peer struct {
	link
	codec   dialect.Codec
	can     dialect.Abilities // the codec's abilities
	handler dialect.Handler   // the handler of the peer's messages; the zero value handles none
	o       Options

	ctx    context.Context // the parent of handlers' contexts; ends when the peer starts to close
	cancel context.CancelFunc
	once   sync.Once      // guards shutDown
	wg     sync.WaitGroup // counts every goroutine except the reader
	done   chan struct{}  // closed after the end of all goroutines of the peer

	mu            sync.Mutex // guards all fields below, and all calls of the codec
	change        wire.Gate  // opens after each change for which the reader or Close may wait
	end           ending.Ending
	pendingNotes  []Note // passed to Options.Note when the mutex is released
	calls         calls
	outbox        outbox
	requests      inbound.Requests
	notifications inbound.Notifications
	exchanges     exchangeState
}

// A link is the connection with its optional interfaces.
type link struct {
	conn           wire.Conn
	about          *dialect.Connection
	exchanger      wire.Exchanger // conn if each message is an exchange, or nil
	batcher        wire.Batcher   // conn if it can queue messages until Flush, or nil
	router         wire.Router    // conn if it has several streams, or nil
	buffered       wire.Buffered  // conn if it can return messages that it has read ahead, or nil
	together       [][]byte       // the messages that the reader read together
	idler          bool           // whether conn reports when it is about to wait for input
	singleExchange bool           // conn accepts only the responses to the first message
}

// newLink returns the link of conn. If conn supports it, conn calls onIdle before it waits for input.
func newLink(conn wire.Conn, onIdle func()) link {
	l := link{conn: conn}
	l.exchanger, _ = conn.(wire.Exchanger)
	l.batcher, _ = conn.(wire.Batcher)
	l.router, _ = conn.(wire.Router)
	l.buffered, _ = conn.(wire.Buffered)
	_, l.singleExchange = conn.(wire.SingleExchange)
	idler, ok := conn.(wire.Idler)
	if l.idler = ok; ok {
		idler.OnIdle(onIdle)
	}
	return l
}

// New returns a peer that starts to read conn. The peer owns conn.
func New(conn wire.Conn, codec dialect.Codec, o Options) *Peer {
	p := &Peer{codec: codec, can: codec.Abilities(), o: o.withDefaults(), done: make(chan struct{}), calls: newCalls()}
	p.link = newLink(conn, p.wakeAll)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.exchanges.ctx, p.exchanges.cancel = context.WithCancel(context.Background())
	p.exchanges.posts = make(chan struct{}, maxPosts)
	p.requests = inbound.NewRequests(p.o.MaxInbound)
	p.can.RequestID, p.can.AnswerID = cmp.Or(p.can.RequestID, "id"), cmp.Or(p.can.AnswerID, "id")
	p.calls.unsolicited, p.outbox.budget = p.can.Unsolicited, p.o.Budget
	p.about = p.connection()
	if o.Handler != nil {
		p.handler = o.Handler(p)
	}
	go p.read()
	return p
}

// connection returns the result of Connection.
func (p *Peer) connection() *dialect.Connection {
	c := &dialect.Connection{Codec: p.codec, Name: p.o.Name, SingleExchange: p.singleExchange, Ask: p.ask, Warn: p.warn, Tell: p.show, Settle: p.Settle}
	if known, ok := p.conn.(wire.Identified); ok {
		c.Identity = known.Identity()
	}
	if one, ok := p.conn.(wire.SingleResponse); ok {
		c.SingleResponse = one.SingleResponse()
	}
	if s, ok := p.conn.(wire.HTTPSession); ok {
		c.HTTPSession = renewableSession{s, p, &p.exchanges}
	}
	return c
}

// Connection describes the connection.
func (p *Peer) Connection() *dialect.Connection { return p.about }

// Done is closed when the connection and all goroutines of p have ended.
func (p *Peer) Done() <-chan struct{} { return p.done }

// Err returns why the connection ended, a *wire.Fault. It returns nil before Done is closed, after a local Close and
// after a clean end.
func (p *Peer) Err() error {
	if wire.IsClosed(p.done) {
		return p.end.Err()
	}
	return nil
}

// Handshake runs the dialect's handshake, if any. If the peer closes the connection during the handshake, it counts as
// unreached.
func (p *Peer) Handshake(ctx context.Context) error {
	if p.can.Handshake == nil {
		return nil
	}
	err := p.can.Handshake(ctx, p)
	if errors.Is(err, dialect.ErrAnew) {
		return err
	}
	if f := wire.AsFault(err); f != nil && f.Kind == wire.Closed {
		g := *f
		g.Kind = wire.Unreachable
		return &g
	}
	return err
}

// Call calls method and returns its result, or the last of several data events. It returns an error of the peer as a
// *wire.Error. If ctx ends first, Call cancels the call on the peer if the dialect supports cancellation.
func (p *Peer) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return p.CallOp(ctx, dialect.Op{Kind: dialect.Call, Method: method, Params: params})
}

// CallOp is like Call, but for any operation.
func (p *Peer) CallOp(ctx context.Context, op dialect.Op) (result json.RawMessage, err error) {
	s, err := p.Open(ctx, op)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = s.Cancel(ctx)
		}
	}()
	for {
		m, err := s.Next(ctx)
		switch {
		case err == io.EOF:
			return result, nil
		case err != nil:
			return nil, err
		}
		ev, err := dialect.EventOf(p.codec, m)
		switch {
		case err != nil:
			return nil, err
		case ev.Kind == wire.Failure && ev.Err != nil:
			return nil, ev.Err.Clone()
		case ev.Kind == wire.Data:
			result = bytes.Clone(ev.Data)
		}
	}
}
