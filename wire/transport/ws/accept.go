package ws

import (
	"net"
	"net/http"

	"github.com/coder/websocket"

	"rpcx/wire/transport"
)

// Accept answers a request with an upgrade to WebSocket. under is its connection from Wrap, with or without TLS. If Accept
// fails, the request has a response. The caller decides which clients may connect.
func Accept(w http.ResponseWriter, r *http.Request, under net.Conn, c transport.Config) (*Conn, error) {
	if dirs := watchFrames(c.Watch, r.RemoteAddr); dirs[0] != nil {
		w = shownUpgrade{w, dirs}
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: c.Subprotocols, InsecureSkipVerify: true})
	if err != nil {
		return nil, err
	}
	n, _ := transport.Layer[*wsNet](under)
	n.ahead = true
	return newWS(ws, n, c), nil
}
