// Package peer is the engine for calls in both directions over one connection, in any dialect. A client and a server
// differ only in their handlers.
//
// One goroutine reads, decodes and routes messages. Another one writes, many messages at a time, and runs only while
// messages are queued. Each request from the peer runs in a goroutine, which afterwards serves a request that waited for
// its end. The peer's notifications share one goroutine, which keeps them in order. All of them have ended when Close returns.
//
// calls.owner determines once to which call a message belongs. A response belongs to the local call with its id. An
// item belongs to the stream that it names, or else to the local call with its id. Any other message is a notification.
// The ids of the peer's requests are never compared with the ids of local requests.
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
	"rpcx/wire/scan"
)

const (
	defaultInbound = 1024 + 64
	defaultBuffer  = 8 << 20
	defaultDrain   = 60 * time.Second
	defaultClose   = 2 * time.Second
)

// Options configure a Peer. The zero value is usable.
type Options struct {
	// Handler returns the handler of the peer's messages, or nil. New calls it once, before it reads; messages that
	// Handler sends are the first ones on the connection. Without a handler, rpcx answers each request with -32601.
	Handler func(c dialect.Caller) dialect.Handler
	// MaxInbound is the maximum number of pending requests from the peer, including those that Incoming took (1,088 by
	// default). The reader stops at that number, or when the requests have a total of 128 MiB. The reader must not stop
	// while a local call is pending, a stream is open or Incoming has taken requests. In that case, further requests
	// get -32000 "busy", which is retryable.
	MaxInbound int
	// Exchanges finds the responses to local requests on a listener where each exchange is a connection. Without it,
	// exchanges carry no local requests.
	Exchanges *Exchanges
	// Budget bounds the total of unsent bytes of the peers that share it. If it is nil, the limit is 16 MiB for this
	// peer.
	Budget *Budget
	// StreamBuffer is the number of queued bytes of a stream at which the reader stops (8 MiB by default).
	StreamBuffer int
	// With Lossy, the reader never stops for a slow consumer. A Subscribe or Watch whose queue exceeds StreamBuffer
	// then loses its oldest messages, and its next message is a wire.Gap event with the number of lost messages. Any
	// other stream ends with a Fault of kind IO.
	Lossy bool
	// MaxMessage is the maximum size of a message on the connection, in bytes (wire.DefaultMaxMessage by default).
	// While the reader must not stop, a stream may exceed StreamBuffer by that size.
	MaxMessage int
	// Drain is how long handlers may still respond after the peer has closed its sending direction (60 s by default). A
	// wire.SingleExchange has no limit.
	Drain time.Duration
	// CloseTimeout bounds each step of Close (2 s by default).
	CloseTimeout time.Duration
	// Hurry is a context that ends when the caller of Close cannot wait any longer. Each remaining step of Close then
	// takes at most 50 ms. A nil Hurry never ends.
	Hurry context.Context
	// Client is set if the peer is a server. rpcx does not send an error for a malformed message from a server. Such a
	// message is an event for watches, for Incoming and, if it has a name, for the handler.
	Client bool
	// Name is the peer's name in messages to the user, or "" if there is only one peer.
	Name string
	// Tap receives every message. It may be nil.
	Tap wire.Tap
	// Record receives every message before Tap. It costs less than Tap, because it is called once for all messages that
	// were read together. It may be nil.
	Record wire.Record
	// Note receives reports of events that failed no call but may interest the user. Several goroutines call it,
	// without holding locks. It may be nil.
	Note func(Note)
	// Resend makes attempts to exchange a message until one reaches the peer or ctx ends. If it is nil, there is only one.
	Resend func(ctx context.Context, attempt func() error) error
	// Incoming receives every request, notification and response of a Raw operation, and every response, item or
	// invalid JSON without a call, before its dispatch. It runs on the reader's goroutine, in the order of arrival, and
	// may keep the message. If it returns true, it has taken the message, and a request then stays open until Answered or
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
	if o.Resend == nil {
		o.Resend = func(_ context.Context, attempt func() error) error { return attempt() }
	}
	return o
}

// A Peer is one end of a connection. It is safe for concurrent use.
//
// One mutex guards all mutable fields. The parts (end, calls, outbox, requests, notifications) are plain data under
// that mutex. They have no locks or goroutines of their own. The comment of each type gives its rules. The caller of a
// method with the suffix Locked must hold the mutex.
type Peer struct {
	link
	codec   dialect.Codec
	can     dialect.Abilities // the codec's abilities
	handler dialect.Handler   // the handler of the peer's messages; the zero value handles none
	o       Options

	ctx    context.Context // the parent of the handlers' contexts; ends when the peer starts to close
	cancel context.CancelFunc
	once   sync.Once      // guards shutDown
	wg     sync.WaitGroup // counts every goroutine except the reader
	done   chan struct{}  // closed when all goroutines of the peer have ended

	mu            noteLock  // guards all fields below, and all calls of the codec
	change        wire.Gate // opens after each change for which the reader or Close may be waiting
	end           ending.Ending
	calls         calls
	outbox        outbox
	requests      inbound.Requests
	notifications inbound.Notifications
	exchanges     exchangeState
}

// A link is the connection together with its optional interfaces.
type link struct {
	conn           wire.Conn
	about          *dialect.Connection
	exchanger      wire.Exchanger // conn if each message is an exchange, or nil
	batcher        wire.Batcher   // conn if it can buffer messages until Flush, or nil
	router         wire.Router    // conn if it has several streams to the peer, or nil
	buffered       wire.Buffered  // conn if it can return messages that it has read ahead, or nil
	together       [][]byte       // messages that the reader has read together
	idler          bool           // whether conn reports that it is about to wait for input
	singleExchange bool           // conn accepts only the responses to the first message
}

// newLink returns a link for conn. If conn supports it, conn calls onIdle before each wait for input.
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

// New returns a peer for conn and starts to read. The peer owns conn.
func New(conn wire.Conn, codec dialect.Codec, o Options) *Peer {
	p := &Peer{codec: codec, can: codec.Abilities(), o: o.withDefaults(), done: make(chan struct{}), calls: newCalls()}
	p.mu.report = p.note
	p.link = newLink(conn, p.wakeAll)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.exchanges.ctx, p.exchanges.cancel = context.WithCancel(context.Background())
	p.exchanges.posts = make(chan struct{}, maxPosts)
	p.exchanges.renewal = make(chan struct{}, 1)
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

// connection builds the value that Connection returns.
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

// Err returns why the connection ended, a *wire.Fault. It returns nil before Done is closed, after a local Close, and
// after a clean end.
func (p *Peer) Err() error {
	if wire.IsClosed(p.done) {
		return p.end.Err()
	}
	return nil
}

// Handshake runs the dialect's handshake, if any. If the peer closes the connection during the handshake, the peer
// counts as unreachable.
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

// Call calls method and returns its result, or the last of several data events. It returns the peer's error as a
// *wire.Error. If ctx ends first, Call cancels the call on the peer, provided that the dialect has a message for this.
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

// ask passes a request that is part of another message to the handler (see dialect.Connection).
func (p *Peer) ask(ctx context.Context, key, method string, params json.RawMessage) (result json.RawMessage, err error) {
	h := p.handler
	if h.Handle == nil || h.Ignores != nil && h.Ignores(method) {
		return nil, wire.ErrUnsupported
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	id := scan.AppendQuoted(nil, key)
	var raw scan.Object
	raw.Text("jsonrpc", "2.0")
	raw.Add("id", id)
	raw.Text("method", method)
	if params != nil {
		raw.Add("params", params)
	}
	in := &dialect.Inbound{Msg: wire.Message{Kind: wire.Request, ID: id, Method: method, Params: params, Raw: raw.End()}}
	in.Emit = func(ev wire.Event) error {
		if ev.Kind == wire.Data {
			result = ev.Data
		}
		return nil
	}
	returned, err := h.Handle(ctx, in)
	if !in.Answered {
		result = returned
	}
	return result, err
}
