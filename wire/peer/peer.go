// Package peer is the engine: calls in two directions over one connection, in
// any dialect. Who asks and who answers is one thing here; a client and a
// server differ only in the handler that they bring.
//
// One goroutine reads, decodes and routes. One that exists only while something
// waits to be sent writes, many messages at once. Each request of the far side
// has a goroutine of its own; its notifications share one, so that they stay in
// order. All of them are gone when Close returns.
//
// What goes where: a response belongs to our call with its id; an item to the
// stream that it names, else to our call with its id; what nobody wants is a
// notification. Ids of the far side's requests are never compared with ours.
package peer

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// The defaults of Options.
const (
	defaultInbound = 1024 + 64
	defaultBuffer  = 8 << 20
	defaultDrain   = 60 * time.Second
	defaultClose   = 2 * time.Second
)

// Options configure a Peer. The zero value is usable.
type Options struct {
	// Handler is called once, with the peer, before anything is read; what it
	// sends comes first. It may return nil. Without a handler every request is
	// answered with -32601.
	Handler func(c dialect.Caller) dialect.Handler
	// MaxInbound is the number of requests of the far side that may be in
	// flight, those that Incoming took included. At that number, or at 128 MiB in
	// sum, the reader stops. Where it cannot, because a call of ours is unanswered,
	// a stream is open or Incoming has taken requests, further ones are answered
	// -32000 "busy", retryable. 0 means 1,088.
	MaxInbound int
	// Exchanges takes, on a listener to which each exchange is a connection, the
	// answers to our requests inside them. nil: there are no such requests.
	Exchanges *Exchanges
	// Budget bounds what this peer and others hold to be sent. nil: 16 MiB for this
	// one alone.
	Budget *Budget
	// StreamBuffer bounds, in bytes, the messages that a stream queues before the
	// reader stops. 0 means 8 MiB.
	StreamBuffer int
	// Lossy has the reader never stop for a slow consumer: a Subscribe or Watch
	// that queues more than StreamBuffer loses its oldest messages, and its next
	// one is then a wire.Gap event with their number; any other stream ends with a
	// Fault of kind IO.
	Lossy bool
	// MaxMessage is the greatest message that the connection brings: how far a
	// stream may go beyond StreamBuffer while the reader cannot stop. 0 means
	// wire.DefaultMaxMessage.
	MaxMessage int
	// Drain bounds how long requests are still answered after the far side has
	// said that it sends no more. 0 means 60 s. A wire.OneShot has no bound.
	Drain time.Duration
	// CloseTimeout bounds each step of Close. 0 means 2 s.
	CloseTimeout time.Duration
	// Hurry ends when the caller of Close has lost patience: each of its steps then
	// takes a fifth of a second at most. nil: never.
	Hurry context.Context
	// Client says that the far side is a server: what it sends that is neither
	// request nor response is not answered. It is an event, which watches, Incoming
	// and, under its own name, the handler see. Else it is answered with an error.
	Client bool
	// Name is how messages to the user call the far side where there are several;
	// "": it is the only one.
	Name string
	// Tap sees every message. May be nil.
	Tap wire.Tap
	// Record sees every message, before Tap does. It costs less, as it is called once for
	// what was read at once. May be nil.
	Record wire.Record
	// Note is told what a user may want to know though no call failed with it.
	// It is called without any lock, from several goroutines. May be nil.
	Note func(Note)
	// Incoming, when set, sees every request, notification, answer to a Raw
	// operation, and response, item or stray JSON that no call wants, in the
	// order in which they came, on the reader's goroutine, before they are
	// dispatched. The message may be kept. true means that it is taken: a
	// request then stays open until Answer or RejectOpen. While it runs nothing
	// is read, so it must not wait for an answer, and Close waits for it.
	Incoming func(m wire.Message) bool
}

func (o Options) withDefaults() Options {
	if o.MaxInbound <= 0 {
		o.MaxInbound = defaultInbound
	}
	if o.StreamBuffer <= 0 {
		o.StreamBuffer = defaultBuffer
	}
	if o.MaxMessage <= 0 {
		o.MaxMessage = wire.DefaultMaxMessage
	}
	if o.Drain <= 0 {
		o.Drain = defaultDrain
	}
	if o.CloseTimeout <= 0 {
		o.CloseTimeout = defaultClose
	}
	return o
}

// A Peer is one end of a connection. All its methods may be called from any
// goroutine.
//
// One mutex guards what changes. Its parts (calls, outbox, inflight,
// notifications) are data under that mutex: they have neither locks nor
// goroutines of their own. A method of Peer whose name ends in Locked is called
// with the mutex held.
type Peer struct {
	link
	answering
	lifetime
	codec       dialect.Codec
	openEnded   bool // an answer does not say that nothing follows
	unsolicited bool // the peer opens streams that no call of ours asked for
	o           Options
	recvMu      sync.Mutex // exchanges are received concurrently; their messages are routed one exchange at a time

	mu     sync.Mutex // guards all below; the codec is called under it
	change gate       // opens when something happened that the reader or a closer waits for
	ending
	pendingNotes []Note // to be told once the mutex is released
	memory

	regreet       sessionRenewal
	calls         calls
	outbox        outbox
	inflight      inflight
	notifications notifications
}

// A link is the connection and what it can do beside Send and Recv.
type link struct {
	conn      wire.Conn
	exchanger wire.Exchanger // conn, if one message is one exchange; else nil
	posts     chan struct{}  // its room is that for answers of ours that are exchanges under way
	batcher   wire.Batcher   // conn, if it can hold messages back until Flush; else nil
	router    wire.Router    // conn, if it has several streams; else nil
	buffered  wire.Buffered  // conn, if it knows what else it has read; else nil
	together  [][]byte       // the reader's: what was read at once
	idler     bool           // conn says when it is about to wait for more
	oneShot   bool           // conn takes the answers to the first message, and no more
}

// A lifetime holds what the end of a peer is awaited and brought about with.
type lifetime struct {
	ctx     context.Context // of handlers: ends when the peer begins to close
	cancel  context.CancelFunc
	xctx    context.Context // of exchanges: ends later than ctx, so that answers get out
	xcancel context.CancelFunc
	once    sync.Once      // guards shutDown
	wg      sync.WaitGroup // counts every goroutine but the reader
	closeAt chan struct{}  // closed when the reader has seen the end
	done    chan struct{}  // closed when nothing of the peer runs any more
	err     error          // what Err returns; read only after done
}

// An ending records how far the end of the connection has come, and why it ends.
type ending struct {
	state      state
	ours       bool  // we closed the connection
	sendClosed error // why a oneShot takes no more messages
	abort      error // the write error for which we gave the connection up
	closeErr   error // why nothing comes any more, once nothing does
}

// A state says what may still happen on a connection. They follow each other.
type state uint8

const (
	open    state = iota
	eof           // the far side sends no more, but reads
	closing       // we are about to close: nothing new begins
	ended         // nothing can be sent
)

// New returns a peer that reads conn at once. It owns conn from then on.
func New(conn wire.Conn, codec dialect.Codec, o Options) *Peer {
	p := &Peer{
		link:     link{conn: conn},
		lifetime: lifetime{done: make(chan struct{}), closeAt: make(chan struct{})},
		codec:    codec,
		o:        o.withDefaults(),
		calls:    newCalls(),
		inflight: newInflight(),
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.xctx, p.xcancel = context.WithCancel(context.Background())
	p.exchanger, _ = conn.(wire.Exchanger)
	if p.exchanger != nil {
		p.posts = make(chan struct{}, maxPosts)
	}
	p.batcher, _ = conn.(wire.Batcher)
	p.router, _ = conn.(wire.Router)
	p.buffered, _ = conn.(wire.Buffered)
	_, p.oneShot = conn.(wire.OneShot)
	_, p.openEnded = codec.(dialect.OpenEnded)
	_, p.unsolicited = codec.(dialect.UnsolicitedStreams)
	if idler, ok := conn.(wire.Idler); ok {
		p.idler = true
		idler.OnIdle(p.wakeAll)
	}
	if o.Handler != nil {
		p.handler = o.Handler(p)
		p.ignorer, _ = p.handler.(dialect.Ignorer)
	}
	go p.read()
	return p
}

// Codec returns the codec that New was given.
func (p *Peer) Codec() dialect.Codec { return p.codec }

// OneAnswer reports whether the far side takes one message as an answer, and
// none after it.
func (p *Peer) OneAnswer() bool {
	c, ok := p.conn.(interface{ OneAnswer() bool })
	return ok && c.OneAnswer()
}

// OneShot reports whether the connection is one exchange of the far side's.
func (p *Peer) OneShot() bool { return p.oneShot }

// Name returns Options.Name.
func (p *Peer) Name() string { return p.o.Name }

// Done is closed when the connection has ended and nothing of p runs.
func (p *Peer) Done() <-chan struct{} { return p.done }

// Err returns why the connection ended: nil before Done, after our own Close
// and after a clean end, else a *wire.Fault.
func (p *Peer) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// Greet runs the dialect's greeting, where it has one.
func (p *Peer) Greet(ctx context.Context) error {
	if g, ok := p.codec.(dialect.Greeter); ok {
		return g.Greet(ctx, p)
	}
	return nil
}

// Call calls method and returns its result; of several data events, the last.
// An error that the far side answered is a *wire.Error. When ctx ends first,
// the far side is told where the dialect can say so.
func (p *Peer) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return p.CallOp(ctx, dialect.Op{Kind: dialect.Call, Method: method, Params: params})
}

// CallOp is Call with all that an operation can say.
func (p *Peer) CallOp(ctx context.Context, op dialect.Op) (result json.RawMessage, err error) {
	s, err := p.Open(ctx, op)
	if err != nil {
		return nil, err
	}
	for {
		m, err := s.Next(ctx)
		switch {
		case err == io.EOF:
			return result, nil
		case err != nil:
			_ = s.Cancel(ctx)
			return nil, err
		}
		ev, err := dialect.EventOf(p.codec, m)
		switch {
		case err != nil:
			_ = s.Cancel(ctx)
			return nil, err
		case ev.Kind == wire.Failure && ev.Err != nil:
			_ = s.Cancel(ctx)
			return nil, ev.Err.Clone()
		case ev.Kind == wire.Data:
			result = bytes.Clone(ev.Data)
		}
	}
}
