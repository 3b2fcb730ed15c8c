package finding

import (
	"bytes"
	"context"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
	"rpcx/wire/transport/schemes"
)

// A link is the connection of an attempt.
type link struct {
	conn     wire.Conn // nil without a connection
	events   chan event
	over     chan struct{} // closed when the attempt no longer uses conn
	received []byte        // the received bytes
	seen     int           // the number of evaluated messages in received
}

// connect connects if necessary. It returns false after a failure.
func (a *attempt) connect(ctx context.Context) bool {
	if a.link.conn != nil {
		return true
	}
	if a.dials == 0 || ctx.Err() != nil {
		return false
	}
	a.dials--
	cfg := a.p.Session.Transport
	cfg.Framing, cfg.Subprotocols, cfg.SubprotocolOptional = pieces, a.offers, true
	cfg.CloseTimeout, cfg.First = closeTimeout, nil
	cfg.Sessions = &wire.HTTPSessions{} // for servers that accept POST requests only at the address in their event stream
	conn, err := schemes.Dial(ctx, a.at.Address, cfg)
	if err != nil && ctx.Err() != nil {
		return false
	}
	if err != nil {
		a.unreached = a.unreached || len(a.sent) == 0 && a.listened != nil
		a.try.fault = wire.AsFault(err)
		a.try.Outcome, a.try.closed = err.Error(), strings.HasSuffix(err.Error(), transport.NoResponse)
		a.dials = 0
		return false
	}
	a.link.received, a.link.seen = nil, 0
	a.unanswered = map[*step]bool{}
	a.link.conn, a.link.events, a.link.over = conn, make(chan event, 16), make(chan struct{})
	go a.link.receive()
	return true
}

// closeTimeout bounds each step of closing a connection. After it, rpcx kills a child.
const closeTimeout = 300 * time.Millisecond

// receive passes on received data until the connection or the attempt ends.
func (l link) receive() {
	for {
		b, err := l.conn.Recv()
		if !l.deliver(event{b: bytes.Clone(b), err: err}) || err != nil {
			return
		}
	}
}

// deliver passes h to the attempt. It returns false if the attempt has ended.
func (l link) deliver(h event) bool {
	select {
	case l.events <- h:
		return true
	case <-l.over:
		return false
	}
}

func (a *attempt) closeConn() {
	if a.link.conn != nil {
		close(a.link.over)
		_ = a.link.conn.Close()
		a.link.conn = nil
	}
}

// send sends the message of s. It returns false without a connection. The outcome arrives as an event.
func (a *attempt) send(ctx context.Context, s *step) bool {
	if !a.connect(ctx) {
		return false
	}
	a.sent = append(a.sent, s)
	a.unanswered[s] = true
	a.try.Sent = append(a.try.Sent, s.name)
	out := []byte(s.msg)
	if a.at.IsBytes() {
		head := a.p.Session.Transport.Head
		if a.try.Header != "" {
			head = []byte(a.try.Header + "\r\n")
		}
		out = framed(a.at.Framing, s.msg, head)
	}
	go func(l link) {
		ex, ok := l.conn.(wire.Exchanger)
		if !ok {
			if err := l.conn.Send(out); err != nil {
				l.deliver(event{err: err})
			}
			return
		}
		err := ex.Exchange(ctx, out, func(msg []byte) { l.deliver(event{b: bytes.Clone(msg)}) })
		l.deliver(event{err: err, done: s})
	}(a.link)
	return true
}
