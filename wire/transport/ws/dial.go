package ws

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"

	"github.com/coder/websocket"

	"rpcx/wire"
	"rpcx/wire/transport"
	"rpcx/wire/transport/httpclient"
)

// Dial connects to a WebSocket server (ws, wss, ws+unix).
func Dial(ctx context.Context, a transport.Address, c transport.Config) (wire.Conn, error) {
	d, err := httpclient.NewDialer(a, c)
	if err != nil {
		return nil, err
	}
	client := d.Client(func(conn net.Conn) net.Conn { return Wrap(conn, nil) })
	up := &upgrader{RoundTripper: client.Transport, where: d.Where, watch: c.Watch, most: c.MaxMessage}
	client.Transport = up
	defer d.CloseIdle()
	if a.Scheme == "wss" {
		c.WarnInsecure(d.Where)
	}

	bounded, cancel := context.WithTimeout(ctx, c.ConnectTimeout)
	defer cancel()
	var under net.Conn
	bounded = httptrace.WithClientTrace(bounded, &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) { under = i.Conn },
	})
	opts := &websocket.DialOptions{HTTPClient: client, HTTPHeader: d.Header, Host: d.HostHeader}
	opts.Subprotocols = takeSubprotocols(d.Header, c.Subprotocols)
	ws, resp, err := websocket.Dial(bounded, d.URL, opts)
	if err != nil {
		return nil, notUpgraded(ctx, d, under, resp, err)
	}
	if len(opts.Subprotocols) > 0 && !c.SubprotocolOptional && ws.Subprotocol() == "" {
		c.Warnf("%s: the peer chose none of the offered subprotocols: %s", d.Where, strings.Join(opts.Subprotocols, ", "))
	}
	n, _ := transport.Layer[*wsNet](under) // the HTTP client has wrapped the connection
	n.ahead = under != net.Conn(n)         // otherwise up.frames has a buffer of its own
	w := newWS(ws, n, c)
	w.frames = up.frames
	return w, nil
}

// takeSubprotocols moves the subprotocols in h, which come from --header, to the option from which the library checks
// the peer's choice.
func takeSubprotocols(h http.Header, offered []string) []string {
	const name = "Sec-Websocket-Protocol"
	for _, v := range h[name] {
		for p := range strings.SplitSeq(v, ",") {
			offered = append(offered[:len(offered):len(offered)], strings.TrimSpace(p))
		}
	}
	delete(h, name)
	return offered
}

// notUpgraded returns why there is no WebSocket: there was no connection, the response was another one, or the upgrade
// was not valid. under is the connection, or nil.
func notUpgraded(ctx context.Context, d *httpclient.Dialer, under net.Conn, resp *http.Response, err error) error {
	switch {
	case resp == nil || wire.AsFault(err) != nil:
		if n, ok := transport.Layer[*wsNet](under); ok && n.failed() != nil && transport.NotHTTP(err) != "" {
			err = io.ErrUnexpectedEOF // the response was cut off
		}
		return d.Fault(ctx, err)
	case resp.StatusCode == http.StatusSwitchingProtocols:
		return wire.NewFault(wire.Protocol, fmt.Sprintf("%s: bad handshake: %v", d.Where, transport.Root(err)), err)
	}
	if f := d.Redirected(resp); f != nil {
		return f
	}
	var body []byte
	if resp.Body != nil {
		body, _ = io.ReadAll(io.LimitReader(resp.Body, transport.MaxErrorBody))
	}
	f := transport.HTTPFault(fmt.Sprintf("%s refused the upgrade to WebSocket", d.Where), resp, body)
	switch resp.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.Unreached = true
	}
	return f
}
