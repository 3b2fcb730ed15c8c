package session

import (
	"context"
	"io"
	"net/http"
	"time"

	"rpcx/wire"
	"rpcx/wire/tape"
	"rpcx/wire/transport"
	"rpcx/wire/transport/httpclient"
	"rpcx/wire/transport/ws"
)

// maxRelayed is how many sessions the tape distinguishes.
const maxRelayed = 10_000

// lanesOf returns the lanes of the forwarded HTTP requests of a session. On the tape, the requests of each session form a
// connection. The requests without a session, whose name is "", form another one, which has no end.
func (t *Wiretap) lanesOf(session string) *lanes {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sessions[session] == nil && len(t.sessions) >= maxRelayed {
		session = ""
	}
	if t.sessions[session] == nil {
		wire.Put(&t.sessions, session, newLanes(t.to.Spec().Shape(), t.recorded))
	}
	return t.sessions[session]
}

// postKey is the context key for the postRecording of a request.
type postKey struct{}

// relayed begins to record a request. If the request has no session, its response may name one.
func (t *Wiretap) relayed(r *http.Request) *postRecording {
	p := &postRecording{answers: wire.Recv}
	if name := t.sessionIn(r.Header); name != "" || t.dialling.Sessions == nil {
		p.lanes = t.lanesOf(name)
		return p
	}
	p.session = func(response *http.Response) *lanes {
		if response == nil {
			return t.lanesOf("")
		}
		return t.lanesOf(t.sessionIn(response.Header))
	}
	return p
}

// sessionIn returns the session's name in a header, or "".
func (t *Wiretap) sessionIn(h http.Header) string {
	if t.dialling.Sessions == nil {
		return ""
	}
	return h.Get(t.dialling.Sessions.Header)
}

func (t *Wiretap) relay(w http.ResponseWriter, r *http.Request, body []byte) {
	if !t.begins() {
		http.Error(w, "the recorder is stopping", http.StatusServiceUnavailable)
		return
	}
	defer t.wg.Done()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stop := context.AfterFunc(t.ends, func() {
		cancel()
		_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0))
	})
	defer stop()
	if r.Header.Get("Upgrade") != "" {
		t.tunnel(w, r.WithContext(ctx))
		return
	}
	to, err := t.relaying()
	if err != nil {
		t.lanesOf("").first().Ended(wire.Recv, err)
		t.failed(err)
		http.Error(w, "cannot reach the address", http.StatusBadGateway)
		return
	}
	one := t.relayed(r)
	defer one.end()
	ctx = context.WithValue(ctx, postKey{}, one)
	tap := func(d wire.Direction, msg []byte) {
		one.message(d, msg)
		if t.options.Tap != nil {
			t.options.Tap(d, msg)
		}
	}
	if err := to.Pass(w, r.WithContext(ctx), body, tap); err != nil {
		switch f := wire.AsFault(err); {
		case f == nil:
		case f.Kind == wire.Closed:
			one.note("a response was cut off: " + err.Error())
		case f.Kind == wire.Protocol:
			one.note(err.Error())
		}
		t.failed(err)
	}
}

// begins counts Serve or a request, for which Close then waits. It returns false if the wiretap is being closed.
func (t *Wiretap) begins() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ends.Err() != nil {
		return false
	}
	t.wg.Add(1)
	return true
}

// relaying returns the connections over which HTTP requests are forwarded, and creates them for the first request.
func (t *Wiretap) relaying() (to *httpclient.Relay, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.relayTo == nil {
		cfg := t.dialling
		cfg.Exchanged = func(x transport.Exchange) {
			if one, ok := x.Request.Context().Value(postKey{}).(*postRecording); ok {
				one.exchange(x)
			}
		}
		t.relayTo, err = httpclient.NewRelay(t.to.Address, cfg, t.listen.Address.URLPath)
	}
	return t.relayTo, err
}

// tunnel forwards a WebSocket connection.
func (t *Wiretap) tunnel(w http.ResponseWriter, r *http.Request) {
	rec := t.options.record(tape.Open{Endpoint: t.to.String()}, false)
	cfg := t.dialling
	var head http.Header
	next := rec.exchanged(nil)
	cfg.Exchanged = func(x transport.Exchange) {
		if x.Response != nil {
			head = x.Response.Header
		}
		if next != nil {
			next(x)
		}
	}
	client, server, err := t.upgraded(w, r, cfg)
	if err != nil {
		rec.failed(err)
		t.failed(err)
		return
	}
	if client == nil { // the peer has refused, with a response of its own
		rec.conn().Ended(wire.Recv, nil)
		return
	}
	conn := rec.conn()
	conn.Show = t.options.Tap
	cfg = cfg.WithDefaults()
	tunnel := &ws.Tunnel{
		Client: client, Server: server, Response: head, MaxMessage: cfg.MaxMessage, Linger: cfg.CloseTimeout, Ping: cfg.Ping, Watch: cfg.Watch, From: r.RemoteAddr,
		Message: conn.Frame,
		Unseen: func(d wire.Direction, why string) {
			conn.Note("a message of the " + [...]string{wire.Send: "client", wire.Recv: "server"}[d] + " is not on the tape: " + why)
		},
	}
	defer context.AfterFunc(t.ends, tunnel.Close)()
	conn.Ended(tunnel.Pass())
}

// upgraded opens the same WebSocket to the peer.
func (t *Wiretap) upgraded(w http.ResponseWriter, r *http.Request, cfg transport.Config) (client, server io.ReadWriteCloser, err error) {
	at, err := resolved(r.Context(), t.to, cfg)
	if err == nil {
		var to *httpclient.Relay
		if to, err = httpclient.NewRelay(at, cfg, t.listen.Address.URLPath); err == nil {
			defer to.Close()
			return to.Upgrade(w, r)
		}
	}
	http.Error(w, "cannot reach the address", http.StatusBadGateway)
	return nil, nil, err
}
