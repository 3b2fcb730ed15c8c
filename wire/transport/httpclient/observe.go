package httpclient

import (
	"crypto/tls"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// observed wraps t for Config.Exchanged and Config.Watch, if they are set.
func observed(t http.RoundTripper, c transport.Config) http.RoundTripper {
	if c.Exchanged == nil && c.Watch == nil {
		return t
	}
	return observer{t, c}
}

type observer struct {
	http.RoundTripper
	c transport.Config
}

// RoundTrip implements http.RoundTripper.
func (o observer) RoundTrip(req *http.Request) (*http.Response, error) {
	watch := o.c.Watch
	m := &measuredExchange{x: transport.Exchange{Request: req, Start: time.Now()}}
	var head []string
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		ConnectStart: func(string, string) { m.note(func(now time.Time) { m.connecting = now }) },
		ConnectDone:  func(string, string, error) { m.note(func(now time.Time) { m.x.Connect = now.Sub(m.connecting) }) },
		GotConn: func(i httptrace.GotConnInfo) {
			m.note(func(time.Time) {
				if i.Conn != nil && i.Conn.RemoteAddr() != nil {
					m.x.Remote = i.Conn.RemoteAddr().String()
				}
			})
		},
		TLSHandshakeStart: func() { m.note(func(now time.Time) { m.shaking = now }) },
		TLSHandshakeDone: func(s tls.ConnectionState, err error) {
			var took time.Duration
			m.note(func(now time.Time) { took = now.Sub(m.shaking); m.x.TLS = took })
			if err == nil {
				watch.Secured("", s, !o.c.TLS.Insecure, took)
			}
		},
		WroteHeaderField: func(name string, values []string) { head = append(head, transport.HeadLine(name, values)) },
		WroteHeaders: func() {
			m.note(func(now time.Time) { m.headSent = now })
			watch.Requested("", req.Method, req.URL.RequestURI(), "HTTP/1.1", head)
			head = nil
		},
		WroteRequest: func(httptrace.WroteRequestInfo) { m.note(func(now time.Time) { m.sent = now }) },
	})
	out := req.WithContext(watch.Dialling(ctx))
	show := watch.Pieces("")
	if show != nil && req.Body != nil && req.Body != http.NoBody {
		out.Body = transport.ShownBody(req.Body, func(b []byte) { show(wire.Send, b) })
	}
	resp, err := o.RoundTripper.RoundTrip(out)
	m.note(func(now time.Time) {
		m.x.Response, m.x.Err = resp, err
		if !m.sent.IsZero() {
			m.x.Wait = now.Sub(m.sent)
		}
	})
	if err == nil {
		watch.Answered("", resp.StatusCode, resp.Proto, resp.Header, time.Since(m.headSent))
		if show != nil && resp.StatusCode != http.StatusSwitchingProtocols {
			resp.Body = transport.ShownBody(resp.Body, func(b []byte) { show(wire.Recv, b) })
		}
	}
	if o.c.Exchanged != nil {
		o.c.Exchanged(m.x)
	}
	return resp, err
}

// measuredExchange collects the data for an Exchange. A connection that was not used for the exchange may be completed
// later.
type measuredExchange struct {
	mu                                  sync.Mutex
	over                                bool
	x                                   transport.Exchange
	connecting, shaking, headSent, sent time.Time
}

func (m *measuredExchange) note(f func(now time.Time)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return
	}
	f(time.Now())
	m.over = m.x.Response != nil || m.x.Err != nil
}
