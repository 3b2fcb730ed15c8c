// Package peer is the engine: calls in both directions over one connection, in any dialect. Clients and servers are the same
// here; they differ only in their handler.
//
// One goroutine reads, decodes and routes messages. Another one writes, many messages at once. It runs only while
// messages wait to be sent. Each request of the peer has its own goroutine. Its notifications share one, so that they
// stay in order. All of them have ended when Close returns.
//
// Routing determines the owner of a message once (calls.owner). A response belongs to the local call with its id. An
// item belongs to the stream that it names, or else to the local call with its id. Any other message is treated as a
// notification. Ids of the peer's requests are never compared with local ones.
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
	// Handler is called once, with the peer, before anything is read. The messages that it sends are the first ones. It
	// may return nil. Without a handler every request is answered with -32601.
	Handler func(c dialect.Caller) dialect.Handler
	// MaxInbound is the number of the peer's requests that may be in flight, including those that Incoming took. At
	// that number, or at a total of 128 MiB, the reader stops. If it must not stop, because a local call is unanswered,
	// a stream is open or Incoming has taken requests, further requests are answered with -32000 "busy", which is
	// retryable. 0 stands for 1,088.
	MaxInbound int
	// Exchanges finds the responses to local requests on a listener whose exchanges are connections. If it is nil,
	// requests are not sent inside exchanges.
	Exchanges *Exchanges
	// Budget bounds the unsent bytes of this peer and of all others that share it. nil stands for 16 MiB for this peer
	// alone.
	Budget *Budget
	// StreamBuffer is the number of bytes of messages that a stream queues before the reader stops. 0 stands for 8 MiB.
	StreamBuffer int
	// Lossy prevents the reader from stopping for a slow consumer. A Subscribe or Watch that queues more than
	// StreamBuffer then loses its oldest messages, and its next message is a wire.Gap event with the number of lost
	// messages. Any other stream ends with a Fault of kind IO.
	Lossy bool
	// MaxMessage is the size of the largest message that the connection can deliver, in bytes. A stream may exceed
	// StreamBuffer by that size while the reader must not stop. 0 stands for wire.DefaultMaxMessage.
	MaxMessage int
	// Drain bounds how long requests are still answered after the peer has closed its sending direction. 0 stands for
	// 60 s. A wire.SingleExchange has no limit.
	Drain time.Duration
	// CloseTimeout bounds each step of Close. 0 stands for 2 s.
	CloseTimeout time.Duration
	// Hurry ends when the caller of Close cannot wait any longer. Each step of Close then takes at most a fifth of a
	// second. A nil Hurry never ends.
	Hurry context.Context
	// Client reports that the peer is a server. A malformed message of a server is not answered with an error. It is an
	// event for watches, for Incoming and, under its own name, for the handler.
	Client bool
	// Name is the peer's name in messages to the user, or "" for the only peer.
	Name string
	// Tap sees every message. It may be nil.
	Tap wire.Tap
	// Record sees every message, before Tap does. It costs less than Tap, because it is called once for all messages
	// that were read together. It may be nil.
	Record wire.Record
	// Note receives reports of occurrences that failed no call but may interest a user. It is called without any lock,
	// from several goroutines. It may be nil.
	Note func(Note)
	// Incoming, if set, receives every request, notification, answer to a Raw operation, and response, item or stray
	// JSON that belongs to no call, before it is dispatched. It runs on the reader's goroutine, in the order of
	// arrival, and may keep the message. If it returns true, it has taken the message. A request then stays open until
	// Answer or RejectOpen. The reader reads nothing while Incoming runs, so Incoming must not wait for an answer.
	// Close waits for it.
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

// A Peer is one end of a connection. All its methods may be called from any goroutine.
//
// One mutex guards everything that changes. The parts (end, calls, outbox, requests, notifications) are data under that
// mutex. They have no locks or goroutines of their own, and each states its rules in its type's comment. A method whose
// name ends in Locked must be called with the mutex held.
type Peer struct {
	link
	codec   dialect.Codec
	can     dialect.Abilities // the abilities of codec
	handler dialect.Handler   // handles the peer's requests and notifications; its zero value handles none
	o       Options

	ctx    context.Context // the parent of the contexts of handlers; it ends when the peer begins to close
	cancel context.CancelFunc
	once   sync.Once      // guards shutDown
	wg     sync.WaitGroup // counts every goroutine except the reader
	done   chan struct{}  // closed when no goroutine of the peer runs any more

	mu            sync.Mutex // guards all fields below; the codec is called under it
	change        wire.Gate  // passed after each change for which the reader or Close may wait
	end           ending.Ending
	pendingNotes  []Note // passed to Options.Note when the mutex is released
	calls         calls
	outbox        outbox
	requests      inbound.Requests
	notifications inbound.Notifications
	exchanges     exchangeState
}

// A link is the connection with the optional interfaces that it implements.
type link struct {
	conn           wire.Conn
	about          *dialect.Connection
	exchanger      wire.Exchanger // conn, if each message is an exchange; nil otherwise
	batcher        wire.Batcher   // conn, if it can queue messages until Flush; nil otherwise
	router         wire.Router    // conn, if it has several streams; nil otherwise
	buffered       wire.Buffered  // conn, if it can return messages that it has read ahead; nil otherwise
	together       [][]byte       // used by the reader: the messages that were read together
	idler          bool           // conn reports when it is about to wait for input
	singleExchange bool           // conn accepts only the answers to the first message
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

// New returns a peer that starts to read conn immediately. The peer then owns conn.
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

// connection returns the result of p.Connection.
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

// Connection returns the description of the connection.
func (p *Peer) Connection() *dialect.Connection { return p.about }

// Done is closed when the connection has ended and no goroutine of p runs.
func (p *Peer) Done() <-chan struct{} { return p.done }

// Err returns the reason why the connection ended, a *wire.Fault. It returns nil before Done is closed, after a local
// Close and after a clean end.
func (p *Peer) Err() error {
	if wire.IsClosed(p.done) {
		return p.end.Err()
	}
	return nil
}

// Handshake runs the dialect's handshake, if it has one. If the peer closes the connection during the handshake, it counts
// as not reached.
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

// Call calls method and returns its result. If there are several data events, it returns the last one. The peer's error
// is a *wire.Error. If ctx ends first, Call cancels the call on the peer, if the dialect supports that.
func (p *Peer) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return p.CallOp(ctx, dialect.Op{Kind: dialect.Call, Method: method, Params: params})
}

// CallOp is like Call, for an operation with any settings.
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
