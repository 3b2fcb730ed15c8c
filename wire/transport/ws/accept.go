package ws

import (
	"net"
	"net/http"

	"github.com/coder/websocket"

	"rpcx/wire/transport"
)

// Accept accepts a request for an upgrade to WebSocket. under is the connection that Wrap returned for it, with or without
// TLS. If Accept fails, it has sent the response. The caller must have checked that the client may connect.
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
