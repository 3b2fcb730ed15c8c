package httpserver

import (
	"context"
	"net"
	"net/http"

	"rpcx/wire/transport/stream"
	"rpcx/wire/transport/ws"
)

// An upgraded is a WebSocket, with the exchange that opened it.
type upgraded struct {
	*ws.Conn
	*servedExchange
}

func (h *handler) upgrade(w http.ResponseWriter, r *http.Request) {
	const goingAway = 1001
	c := upgraded{servedExchange: serve(r, h.c.Watch)}
	var err error
	if c.Conn, err = ws.Accept(w, r, r.Context().Value(netKey{}).(net.Conn), h.c); err != nil {
		return // it has answered
	}
	c.answered(http.StatusSwitchingProtocols, w.Header())
	if !h.hand(context.Background(), c) {
		c.CloseWith(goingAway, "the listener is closed")
	}
}

// A limitedListener accepts a limited number of connections, each of which can become a WebSocket.
type limitedListener struct {
	net.Listener
	places *stream.Limit
}

func (l limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if leave := l.places.Acquire(c); leave != nil {
			return ws.Wrap(c, leave), nil
		}
	}
}
