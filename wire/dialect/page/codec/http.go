package codec

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// Sessions returns the dialect file's rules for the sessions of an HTTP listener, or nil if it has none.
func (d *Dialect) Sessions() *wire.HTTPSessions {
	p := d.Page
	if p.HTTP.Session == "" || p.Serve.First == "" {
		return nil
	}
	values := map[string][]string{}
	for name, texts := range p.HTTP.Values {
		values[name] = texts
	}
	return &wire.HTTPSessions{
		Header: p.HTTP.Session,
		Values: values,
		Begins: func(msg []byte) (begins, primes bool) {
			if scan.Type(msg) != 'o' || scan.String(scan.Get(msg, "method")) != p.Serve.First || !strings.Contains("ns", string(scan.Type(scan.Get(msg, "id")))) {
				return false, false
			}
			if p.HTTP.Prime != nil {
				primes, _ = p.HTTP.Prime.Holds(scan.Get(msg, "params"), (&program.Scope{}).Value)
			}
			return true, primes
		},
	}
}

// Resolve returns a function that finds the URL to use on an HTTP server, or nil if the dialect file has no rule for that. posts reports
// that the URL is for POST requests, not for a WebSocket.
func Resolve(p *load.Page) (find func(get func(path string) ([]byte, error)) (*url.URL, error), posts bool) {
	rule := p.HTTP.Resolve
	if rule == nil {
		return nil, false
	}
	at, what := rule.URL, "WebSocket URL"
	if rule.Post != nil {
		at, what = rule.Post, "URL for POST"
	}
	return func(get func(path string) ([]byte, error)) (*url.URL, error) {
		for _, path := range rule.Get {
			answer, err := jsonAt(path, get)
			if err != nil {
				return nil, err
			}
			val, err := at.First(answer, (&program.Scope{}).Value)
			if err != nil {
				return nil, err
			}
			if text, ok := scan.Text(val); ok {
				u, err := url.Parse(text)
				if err != nil || u.Path == "" && rule.Post == nil {
					return nil, protocolFault("", "the response to GET "+path+" has no "+what)
				}
				return u, nil
			}
		}
		return nil, wire.NewFault(wire.Unreachable, "the server returned no "+what, nil)
	}, rule.Post != nil
}

// jsonAt returns the response to a GET request for path, which must be JSON.
func jsonAt(path string, get func(path string) ([]byte, error)) (json.RawMessage, error) {
	answer, err := get(path)
	if err != nil {
		return nil, err
	}
	if bad := scan.Valid(answer, wire.DefaultMaxDepth); bad != nil {
		return nil, protocolFault("", "the response to GET "+path+" is not JSON: "+bad.Error())
	}
	return answer, nil
}

// overHTTP records whether messages are HTTP exchanges, and registers the headers in http.mirror.
func (c *Codec) overHTTP(caller dialect.Caller) {
	session := caller.Connection().HTTPSession
	c.mu.Lock()
	c.conn.HTTP = session != nil
	c.mu.Unlock()
	if session != nil && len(c.d.Page.HTTP.Mirror) > 0 {
		session.Mirror(c.mirrored)
	}
}

// mirrored returns the headers that repeat parts of a message over HTTP.
func (c *Codec) mirrored(msg []byte) map[string]string {
	headers := map[string]string{}
	sc := c.Scope()
	sc.Method, sc.Params = scan.String(scan.Get(msg, "method")), scan.Get(msg, "params")
	for name, prog := range c.d.Page.HTTP.Mirror {
		val, err := prog.First(msg, sc.Value)
		if text, ok := scan.Text(val); ok && err == nil {
			headers[name] = HeaderValue(text)
		}
	}
	if len(headers) > 0 {
		c.flow.Mirror(msg, headers)
	}
	return headers
}

// HeaderValue returns text as the value of a header: unchanged if possible, and otherwise in Base64.
func HeaderValue(text string) string {
	const begin, end = "=?base64?", "?="
	safe := !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
	if safe && strings.TrimSpace(text) == text && !(strings.HasPrefix(text, begin) && strings.HasSuffix(text, end)) {
		return text
	}
	return begin + base64.StdEncoding.EncodeToString([]byte(text)) + end
}
