package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
	"rpcx/wire/transport"
	"rpcx/wire/transport/httpclient"
)

// Limits for one response of a server: its size in bytes, and its duration.
const (
	maxDocument    = 1 << 20
	requestTimeout = 30 * time.Second
)

// A Client sends the requests of a login.
type Client struct {
	http    *http.Client
	limit   time.Duration
	private atomic.Bool // private addresses are allowed, because the endpoint has one or the user names the issuer
}

// NewClient returns a Client with c's connection settings, without the headers of c.
func NewClient(c transport.Config) *Client {
	c = c.WithDefaults()
	cl := &Client{limit: c.ConnectTimeout}
	cl.http = httpclient.Anywhere(c, cl.allow)
	cl.http.Timeout = requestTimeout
	return cl
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// allowPrivate allows connections to private addresses (see allow).
func (c *Client) allowPrivate() { c.private.Store(true) }

// firstKey marks the request to the endpoint itself.
type firstKey struct{}

// allow refuses connections to private networks unless the endpoint is in one. A server on the internet must not make rpcx
// send requests to machines that only the user can reach.
func (c *Client) allow(ctx context.Context, host string, at netip.Addr) error {
	switch private := isPrivate(at); {
	case private && ctx.Value(firstKey{}) != nil:
		c.private.Store(true)
	case private && !c.private.Load():
		return wire.NewFault(wire.Protocol, fmt.Sprintf("%s is at the private address %s, but the endpoint is not", host, at), nil).
			WithHint("if you trust it, name it with --issuer URL")
	}
	return nil
}

// get requests a JSON document. It returns false if the server has no such document.
func (c *Client) get(ctx context.Context, at string, into any) (bool, error) {
	req, err := request(ctx, http.MethodGet, at, nil)
	if err != nil {
		return false, err
	}
	resp, body, err := c.do(req)
	switch {
	case err != nil || resp.StatusCode/100 == 4:
		return false, err
	case resp.StatusCode != http.StatusOK:
		return false, unavailable(at, resp.StatusCode)
	}
	if scan.Valid(body, wire.DefaultMaxDepth) != nil || json.Unmarshal(body, into) != nil {
		return false, notJSON(at)
	}
	return true, nil
}

// unavailable returns the Fault for a response with a status that contains no decision of the server.
func unavailable(at string, status int) *wire.Fault {
	text := " " + http.StatusText(status)
	if status/100 == 3 {
		text = ", a redirect that rpcx does not follow"
	}
	return wire.NewFault(wire.Unreachable, fmt.Sprintf("%s returned %d%s", at, status, text), nil)
}

func notJSON(at string) error {
	return wire.NewFault(wire.Protocol, at+": the response is not the expected JSON", nil)
}

// request returns a request for JSON from the URL at.
func request(ctx context.Context, method, at string, body []byte) (*http.Request, error) {
	u, err := safe(at)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err == nil {
		req.Header.Set("Accept", "application/json")
	}
	return req, err
}

// do sends a request and returns the response and its complete body.
func (c *Client) do(req *http.Request) (resp *http.Response, body []byte, err error) {
	u, start := req.URL, time.Now()
	where := u.Scheme + "://" + u.Host + u.Path
	resp, err = c.http.Do(req)
	if err != nil {
		return nil, nil, c.failed(req.Context(), where, start, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols { // the body of a 101 response is a connection, which the context does not end
		return nil, nil, wire.NewFault(wire.Protocol, fmt.Sprintf("%s returned %s", u.Host, resp.Status), nil)
	}
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	switch {
	case err != nil && c.isOver(start):
		err = c.failed(req.Context(), where, start, err)
	case err != nil:
		err = wire.NewFault(wire.Closed, u.Host+": "+transport.Innermost(err).Error(), err)
	case len(body) > maxDocument:
		err = wire.NewFault(wire.Protocol, fmt.Sprintf("%s%s: the response is larger than %d bytes", u.Host, u.Path, maxDocument), nil)
	}
	return resp, body, err
}

// failed returns the Fault for a request since start without a complete response.
func (c *Client) failed(ctx context.Context, where string, start time.Time, err error) *wire.Fault {
	if wire.Ended(ctx) == nil && c.isOver(start) {
		return wire.NewFault(wire.Unreachable, fmt.Sprintf("%s: no response within %v", where, c.http.Timeout), err)
	}
	return transport.DialFault(ctx, where, c.limit, err)
}

// isOver reports whether the time for a request since start is over.
func (c *Client) isOver(start time.Time) bool { return time.Since(start) >= c.http.Timeout }

// post sends a form or JSON, and decodes the response into into. basic has the client's credentials, or is nil. For a
// response other than 2xx, it returns the Fault of refused.
func (c *Client) post(ctx context.Context, at, media string, body []byte, basic *Login, into any) error {
	req, err := request(ctx, http.MethodPost, at, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", media)
	if basic != nil {
		req.SetBasicAuth(url.QueryEscape(basic.ClientID), url.QueryEscape(basic.Secret))
	}
	resp, answer, err := c.do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		var e struct {
			Error       string `json:"error"`
			Description string `json:"error_description"`
		}
		_ = json.Unmarshal(answer, &e)
		return refused(at, resp.StatusCode, e.Error, e.Description)
	}
	if into != nil && json.Unmarshal(answer, into) != nil {
		return notJSON(at)
	}
	return nil
}

// errRefused is the cause of a Fault if an authorization server refused a request with an OAuth error.
var errRefused = errors.New("the authorization server refused the request")

// refused returns the Fault for an authorization server's error response from a URL. status is 0 if the browser has sent
// the error. The kind is Auth if the server has decided against the client, and otherwise Unreachable.
func refused(at string, status int, code, description string) *wire.Fault {
	later := status/100 == 5 || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests
	if status/100 == 3 || later && code == "" {
		return unavailable(at, status)
	}
	host := at
	if u, err := url.Parse(at); err == nil {
		host = u.Host
	}
	text := fmt.Sprintf("%s refused: %d", host, status)
	if code != "" {
		text = fmt.Sprintf("%s refused: %s", host, transport.FirstLine([]byte(code)))
	}
	if description != "" {
		text += " (" + transport.FirstLine([]byte(description)) + ")"
	}
	f := wire.NewFault(wire.Auth, redact.Known(text), nil)
	switch {
	case later || code == "temporarily_unavailable" || code == "server_error":
		f.Kind = wire.Unreachable
	case code != "":
		f.Err = errRefused
	}
	return f
}

// safe parses a URL from a server or the user. It accepts https, and http to this machine, without userinfo and
// fragment.
func safe(at string) (*url.URL, error) {
	u, err := url.Parse(at)
	if err != nil || u.User != nil || u.Fragment != "" {
		return nil, wire.NewFault(wire.Protocol, transport.FirstLine([]byte(at))+" is not a usable URL", nil)
	}
	if confidential(u) != nil {
		return nil, wire.NewFault(wire.Protocol, transport.FirstLine([]byte(at))+" is neither https nor on this machine", nil)
	}
	return u, nil
}

// postForm posts a form with the credentials of l's client.
func (c *Client) postForm(ctx context.Context, l *Login, at string, form url.Values, into any) error {
	basic := l
	if l.Method != methodBasic {
		basic = nil
		form.Set("client_id", l.ClientID)
	}
	if l.Method == methodPost {
		form.Set("client_secret", l.Secret)
	}
	return c.post(ctx, at, "application/x-www-form-urlencoded", []byte(form.Encode()), basic, into)
}
