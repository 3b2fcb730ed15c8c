package httpclient

import (
	"context"
	"net/http"

	"rpcx/wire/transport"
	"rpcx/wire/transport/httpbody"
)

// httpSchemes map the schemes of WebSockets to those of GET requests.
var httpSchemes = map[string]string{"ws": "http", "wss": "https", "ws+unix": "http+unix"}

// Get returns the body of a 200 response of the HTTP or WebSocket server at a to a GET of path, with at most
// c.Options.MaxMessage bytes. Errors are Faults like those of a POST.
func Get(ctx context.Context, a transport.Address, path string, c transport.Config) ([]byte, error) {
	if scheme, ok := httpSchemes[a.Scheme]; ok {
		a.Scheme = scheme
	}
	if !a.IsHTTP() {
		return nil, transport.Usage("%s: is not an HTTP address", a.Scheme)
	}
	a, err := a.At(path)
	if err != nil {
		return nil, err
	}
	c = c.WithDefaults()
	conn, err := Dial(ctx, a, c)
	if err != nil {
		return nil, err
	}
	h := conn.(*httpConn)
	defer h.Close()
	ctx, cancel := context.WithTimeout(ctx, c.ConnectTimeout)
	defer cancel()
	req, _, err := h.request(ctx, http.MethodGet, h.URL, nil)
	if err != nil {
		return nil, err
	}
	setDefault(req.Header, "Accept", "application/json")
	resp, err := h.http.Do(req)
	if err != nil {
		return nil, h.notAnswered(ctx, false, false, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, h.refusal(resp, h.readRefusal(resp.Body, resp.Header.Get("Content-Type")))
	}
	body, err := httpbody.Read(resp.Body, resp.ContentLength, h.max)
	return body, h.broken(err)
}
