package codec

import (
	"rpcx/wire"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// Sessions are those of an HTTP listener, as the page has them; nil where it has none.
func (d *Dialect) Sessions() *wire.HTTPSessions {
	p := d.Page
	if p.HTTP.Session == "" || p.Serve.First == "" {
		return nil
	}
	return &wire.HTTPSessions{
		Header: p.HTTP.Session,
		Values: p.HTTP.Values,
		Begins: func(msg []byte) (begins, primes bool) {
			if scan.Type(msg) != 'o' || scan.String(scan.Get(msg, "method")) != p.Serve.First || scan.Get(msg, "id") == nil {
				return false, false
			}
			if p.HTTP.Prime != nil {
				primes, _ = p.HTTP.Prime.Holds(scan.Get(msg, "params"), (&program.Scope{}).Value)
			}
			return true, primes
		},
	}
}
