package transport

import (
	"context"
	"net/http"

	"rpcx/wire"
)

// httpSchemes are the schemes by which a server of WebSocket is asked over HTTP.
var httpSchemes = map[string]string{"ws": "http", "wss": "https", "ws+unix": "http+unix"}

// Get returns what the server at a, of HTTP or WebSocket, answers to a GET of path: the
// body of a 200, with at most c.Options.MaxMessage bytes. Errors are Faults, as those of
// a POST are.
func Get(ctx context.Context, a Address, path string, c Config) ([]byte, error) {
	if scheme, ok := httpSchemes[a.Scheme]; ok {
		a.Scheme = scheme
	}
	if !a.IsHTTP() {
		return nil, usage("%s: has no HTTP", a.Scheme)
	}
	a, err := a.At(path)
	if err != nil {
		return nil, err
	}
	c = c.WithDefaults()
	conn, err := dialHTTP(ctx, a, c)
	if err != nil {
		return nil, err
	}
	h := conn.(*httpConn)
	defer h.Close()
	ctx, cancel := context.WithTimeout(ctx, c.ConnectTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url, nil)
	if err != nil {
		return nil, wire.NewFault(wire.Usage, h.where+": not a valid address", err)
	}
	req.Header, req.Host = h.header.Clone(), h.hostHeader
	setDefault(req.Header, "Accept", "application/json")
	resp, err := h.http.Do(req)
	if err != nil {
		return nil, h.notAnswered(ctx, false, false, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, h.refusal(resp, h.readRefusal(resp.Body, resp.Header.Get("Content-Type")))
	}
	body, err := readBody(resp.Body, resp.ContentLength, h.max)
	return body, h.broken(err)
}
