package codec

import (
	"net/url"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// Sessions are those of an HTTP listener, as the dialect file has them; nil where it has none.
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

// Resolve returns what finds the WebSocket of an HTTP server, as a dialect file says, or nil if the dialect file has no
// such way.
func Resolve(p *load.Page) func(get func(path string) ([]byte, error)) (string, error) {
	rule := p.HTTP.Resolve
	if rule == nil {
		return nil
	}
	return func(get func(path string) ([]byte, error)) (string, error) {
		for _, path := range rule.Get {
			answer, err := get(path)
			if err != nil {
				return "", err
			}
			if bad := scan.Valid(answer, wire.DefaultMaxDepth); bad != nil {
				return "", protocolFault("", "the answer to GET "+path+" is no JSON: "+bad.Error())
			}
			val, err := rule.URL.First(answer, (&program.Scope{}).Value)
			if err != nil {
				return "", err
			}
			if text, ok := scan.Text(val); ok {
				u, err := url.Parse(text)
				if err != nil || u.Path == "" {
					return "", protocolFault("", "the answer to GET "+path+" names no WebSocket")
				}
				return u.RequestURI(), nil
			}
		}
		return "", wire.NewFault(wire.Unreachable, "the server returned no WebSocket URL", nil)
	}
}
