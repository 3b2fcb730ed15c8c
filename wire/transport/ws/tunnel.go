package ws

import (
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// A Tunnel forwards the frames of a WebSocket without changing them: opcodes, fragments, compression and control
// frames. Its connections are those that remain after the upgrade.
type Tunnel struct {
	Client, Server io.ReadWriteCloser
	Response       http.Header   // the head of the response to the upgrade, with the extensions
	MaxMessage     int           // in bytes; a longer message is forwarded but not passed to Message
	Linger         time.Duration // how long to wait for the other side when one side has closed the WebSocket
	Ping           time.Duration // the interval of keep-alive pings to both sides; 0 means none
	Watch          *transport.Watch
	From           string // the address of the client, for Watch
	// Message receives each complete message, decompressed, before its last bytes are forwarded. binary is set if the
	// message is binary. Message must not keep msg.
	Message func(d wire.Direction, msg []byte, binary bool)
	// Unseen is called with the reason when a message cannot be passed to Message.
	Unseen func(d wire.Direction, why string)

	once sync.Once
	ways [2]*way // by direction; created by once

	mu    sync.Mutex
	who   wire.Direction
	how   *wire.CloseError // how the first side ended; nil before
	timer *time.Timer      // closes both connections after Linger; may be nil
}

// A way is one direction of a Tunnel.
type way struct {
	from, to io.ReadWriteCloser
	seen     []*frames
	reads    atomic.Int64 // odd while a read is waiting

	mu sync.Mutex // held while the connection to is being written
	*assembler
}

// Pass forwards frames until both sides have ended, and closes both connections. It returns which side ended first, and
// how.
func (t *Tunnel) Pass() (who wire.Direction, end error) {
	t.once.Do(t.prepare)
	var wg sync.WaitGroup
	for _, d := range []wire.Direction{wire.Send, wire.Recv} {
		w := t.ways[d]
		wg.Go(func() {
			defer wire.Guard()
			w.copy()
			t.ended(d, &wire.CloseError{Err: errNoCloseFrame})
			t.close(d)
		})
	}
	if t.Ping > 0 {
		done := make(chan struct{})
		defer close(done)
		go func() {
			defer wire.Guard()
			every(t.Ping, done, func() { t.ping(wire.Send); t.ping(wire.Recv) })
		}()
	}
	wg.Wait()
	if t.timer != nil {
		t.timer.Stop()
	}
	_, _ = t.Client.Close(), t.Server.Close()
	return t.who, t.how
}

// prepare creates the two ways.
func (t *Tunnel) prepare() {
	shown, of := watchFrames(t.Watch, t.From), watchFrames(t.Watch, "")
	t.ways[wire.Send] = &way{from: t.Client, to: t.Server, seen: []*frames{shown[wire.Recv], of[wire.Send]}}
	t.ways[wire.Recv] = &way{from: t.Server, to: t.Client, seen: []*frames{of[wire.Recv], shown[wire.Send]}}
	inflaters := inflaters(t.Response)
	for _, d := range []wire.Direction{wire.Send, wire.Recv} {
		t.ways[d].assembler = &assembler{
			most: t.MaxMessage, inflater: inflaters[d],
			message: func(msg []byte, binary bool) { t.Message(d, msg, binary) },
			unseen:  func(why string) { t.Unseen(d, why) },
			closed:  func(how *wire.CloseError) { t.ended(d, how) },
		}
	}
}

// copy forwards one direction until it ends.
func (w *way) copy() {
	b := make([]byte, wsBuffer)
	for {
		w.reads.Add(1)
		n, err := w.from.Read(b)
		w.reads.Add(1)
		if n > 0 && !w.forward(b[:n]) || err != nil {
			return
		}
	}
}

func (w *way) forward(b []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take(b)
	for _, s := range w.seen {
		if s != nil {
			s.take(b)
		}
	}
	_, err := w.to.Write(b)
	return err == nil
}

// ping sends a ping to the side that sends in direction d, unless an incomplete frame is on its way to that side. If
// the side then sends nothing for the time Ping, the WebSocket ends.
func (t *Tunnel) ping(d wire.Direction) {
	from, to := t.ways[d], t.ways[1-d]
	before := from.reads.Load()
	if !to.mu.TryLock() {
		return
	}
	defer to.mu.Unlock()
	if !to.between() || to.closeReceived.Load() {
		return
	}
	time.AfterFunc(t.Ping, func() {
		if before%2 == 1 && from.reads.Load() == before {
			t.ended(d, &wire.CloseError{Err: noPong(t.Ping)})
			_, _ = t.Client.Close(), t.Server.Close()
		}
	})
	frame := pingFrames[1-d]
	if s := to.seen[1]; s != nil {
		s.take([]byte(frame))
	}
	_, _ = io.WriteString(to.to, frame)
}

// ended records how a side ended, unless the other side has ended before.
func (t *Tunnel) ended(d wire.Direction, how *wire.CloseError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.how == nil {
		t.who, t.how = d, how
	}
}

// close closes both connections. If the side that sends in direction d has closed the WebSocket properly and the other
// has not responded, it waits for that, but at most Linger.
func (t *Tunnel) close(d wire.Direction) {
	t.mu.Lock()
	defer t.mu.Unlock()
	both := func() { _, _ = t.Client.Close(), t.Server.Close() }
	if !t.ways[d].closeReceived.Load() || t.ways[1-d].closeReceived.Load() {
		both()
	} else if t.timer == nil {
		t.timer = time.AfterFunc(t.Linger, both)
	}
}

// goingAway contains the close frame with code 1001: for a client and, masked, for a server.
var goingAway = [2]string{wire.Recv: "\x88\x02\x03\xe9", wire.Send: "\x88\x82\x00\x00\x00\x00\x03\xe9"}

// pingFrames contains an empty ping: for a client and, masked, for a server.
var pingFrames = [2]string{wire.Recv: "\x89\x00", wire.Send: "\x89\x80\x00\x00\x00\x00"}

// Close closes the WebSocket on both sides. Pass then ends.
func (t *Tunnel) Close() {
	t.once.Do(t.prepare)
	for d, w := range t.ways {
		if w.mu.TryLock() { // fails if a side does not read
			if w.between() {
				_, _ = io.WriteString(w.to, goingAway[d])
			}
			w.mu.Unlock()
		}
	}
	t.ended(wire.Send, &wire.CloseError{Code: 1001, Clean: true})
	_, _ = t.Client.Close(), t.Server.Close()
}
