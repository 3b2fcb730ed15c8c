package session

import (
	"context"
	"net/http"
	"time"

	"rpcx/wire"
	"rpcx/wire/tape"
	"rpcx/wire/transport/httpclient"
)

// relays holds the HTTP requests that are passed on unchanged, from an HTTP listener to an HTTP
// server. On the tape they are one connection, which has no end.
type relays struct {
	to  *httpclient.Relay
	rec recording
}

// relay passes on one request.
func (t *Wiretap) relay(w http.ResponseWriter, r *http.Request, body []byte) {
	all, err := t.relaying()
	if err != nil {
		t.failed(err)
		http.Error(w, "cannot reach the address", http.StatusBadGateway)
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
	if err := all.to.Pass(w, r.WithContext(ctx), body, all.rec.tap(t.options.Tap)); err != nil {
		if f := wire.AsFault(err); f != nil && f.Kind == wire.Closed {
			all.rec.conn().Note("a response was cut off: " + err.Error())
		}
		t.failed(err)
	}
}

// relaying counts a request, and makes the relays for the first one.
func (t *Wiretap) relaying() (*relays, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ends.Err() != nil {
		return nil, context.Cause(t.ends)
	}
	if t.relays != nil {
		t.wg.Add(1)
		return t.relays, nil
	}
	rec := t.options.record(tape.Open{Endpoint: t.to.String()}, false)
	cfg := t.dialling
	cfg.Exchanged = rec.exchanged(nil)
	to, err := httpclient.NewRelay(t.to.Address, cfg)
	if err != nil {
		rec.failed(err)
		return nil, err
	}
	t.relays = &relays{to, rec}
	t.wg.Add(1)
	return t.relays, nil
}
