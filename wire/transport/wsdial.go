package transport

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"github.com/coder/websocket"

	"rpcx/wire"
)

// dialWS dials ws, wss and ws+unix.
func dialWS(ctx context.Context, a Address, c Config) (wire.Conn, error) {
	d, err := newHTTPDialer(a, c)
	if err != nil {
		return nil, err
	}
	client := d.client()
	up := &upgrader{RoundTripper: client.Transport, most: c.Options.WithDefaults().MaxMessage}
	client.Transport = up
	defer client.CloseIdleConnections()
	if a.Scheme == "wss" {
		c.warnInsecure(d.where)
	}

	bounded, cancel := context.WithTimeout(ctx, c.connectTimeout())
	defer cancel()
	var under net.Conn
	bounded = httptrace.WithClientTrace(bounded, &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) { under = i.Conn },
	})
	opts := &websocket.DialOptions{HTTPClient: client, HTTPHeader: d.header, Host: d.hostHeader}
	opts.Subprotocols = takeSubprotocols(d.header, c.Subprotocols)
	ws, resp, err := websocket.Dial(bounded, d.url, opts)
	if err != nil {
		return nil, d.notUpgraded(ctx, resp, err)
	}
	if len(opts.Subprotocols) > 0 && !c.SubprotocolOptional && ws.Subprotocol() == "" {
		c.warn("%s: the far side picked none of the subprotocols offered: %s", d.where, strings.Join(opts.Subprotocols, ", "))
	}
	n := underlying(under)
	n.direct = under == net.Conn(n)
	w := newWS(ws, n, c)
	w.frames = up.frames
	return w, nil
}

// underlying finds our own connection below the layers of TLS.
func underlying(c net.Conn) *wsNet {
	for {
		switch t := c.(type) {
		case *wsNet:
			return t
		case interface{ NetConn() net.Conn }:
			c = t.NetConn()
		default:
			panic(fmt.Sprintf("transport: a %T is not a connection of ours", c)) // every dial goes through httpDialer.dial
		}
	}
}

// takeSubprotocols moves what a --header offers to where the library looks for
// it when it checks the far side's choice.
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

// notUpgraded says why there is no WebSocket: no connection, an HTTP answer in
// place of the upgrade, or an upgrade that breaks the protocol.
func (d *httpDialer) notUpgraded(ctx context.Context, resp *http.Response, err error) error {
	switch {
	case resp == nil || wire.AsFault(err) != nil:
		return dialFault(ctx, d.where, d.c.connectTimeout(), err)
	case resp.StatusCode == http.StatusSwitchingProtocols:
		what := err
		for errors.Unwrap(what) != nil {
			what = errors.Unwrap(what)
		}
		return wire.NewFault(wire.Protocol, fmt.Sprintf("%s: bad handshake: %v", d.where, what), err)
	}
	if isRedirect(resp) {
		return d.redirected(resp)
	}
	var body []byte
	if resp.Body != nil {
		body, _ = io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	}
	f := httpFault(fmt.Sprintf("%s refused the upgrade to WebSocket", d.where), resp, body)
	switch resp.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.Unreached = true
	}
	return f
}

// maxErrorBody bounds how much is shown of an answer that is no message.
const maxErrorBody = 1024

// httpFault returns the failure that an HTTP status stands for: 401, 403 and 407
// are Auth, all others Unreachable.
func httpFault(what string, resp *http.Response, body []byte) *wire.Fault {
	kind, status := wire.Unreachable, resp.StatusCode
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		kind = wire.Auth
	}
	body = body[:min(len(body), maxErrorBody)]
	msg := fmt.Sprintf("%s: %d %s", what, status, http.StatusText(status))
	if line := firstLine(body); line != "" {
		msg = strings.TrimSuffix(msg, " ") + ": " + line
	}
	f := wire.NewFault(kind, strings.TrimSuffix(msg, " "), nil)
	f.HTTP = &wire.HTTP{Status: status, Body: strings.ToValidUTF8(string(body), "\uFFFD"), RetryAfter: retryAfter(resp)}
	return f
}

// longestRetryAfter bounds the pause that a server can ask for.
const longestRetryAfter = 24 * time.Hour

// retryAfter reads when the server of an answer wants to be asked again, in seconds
// from now; 0 where it does not say.
func retryAfter(resp *http.Response) int {
	given := strings.TrimSpace(resp.Header.Get("Retry-After"))
	after, err := time.ParseDuration(given + "s")
	if at, aerr := http.ParseTime(given); aerr == nil {
		after, err = time.Until(at), nil
	}
	if err != nil || after < 0 {
		return 0
	}
	return int(math.Ceil(min(after, longestRetryAfter).Seconds()))
}

// firstLine returns the first line of text in an answer's body, for one line of
// a message; the whole is in the Fault.
func firstLine(body []byte) string {
	s := strings.TrimSpace(strings.ToValidUTF8(string(body), "\uFFFD"))
	s, _, _ = strings.Cut(s, "\n")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	if cut := []rune(s); len(cut) > 200 {
		s = string(cut[:200]) + "…"
	}
	return s
}

// basicAuth returns the value of an Authorization header.
func basicAuth(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}
