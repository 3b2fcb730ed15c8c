package transport

import (
	"crypto/tls"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"time"

	"rpcx/wire/redact"
)

// An Exchange describes one HTTP exchange, as it stands when the head of the response
// has come or gone: an upgrade, a POST, a request for an event stream. The bodies must
// not be read here.
type Exchange struct {
	Request  *http.Request
	Response *http.Response // nil: none came
	Err      error          // why none came
	Start    time.Time      // when it began
	Connect  time.Duration  // to connect, without TLS; 0: a connection was used again
	TLS      time.Duration  // of the TLS handshake
	Wait     time.Duration  // from the request being sent to the head of the response
	Remote   string         // the address of the other side; "": not known
}

// A servedExchange is the Exchange by which a connection came to a listener.
type servedExchange struct {
	r     *http.Request
	start time.Time
	watch *Watch

	mu   sync.Mutex
	head *http.Response // nil: it has not gone yet
	tell func(Exchange) // nil: not asked for, or told
}

func serve(r *http.Request, w *Watch) *servedExchange {
	return &servedExchange{r: r, start: time.Now(), watch: w}
}

// OnExchange has tell told of the exchange when the head of its response has gone, at
// once where it has.
func (s *servedExchange) OnExchange(tell func(Exchange)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell = tell
	s.told()
}

// OnExchange has tell told of the upgrade, where it came to a listener.
func (w *wsConn) OnExchange(tell func(Exchange)) {
	if w.from != nil {
		w.from.OnExchange(tell)
	}
}

// answered notes the head of the response.
func (s *servedExchange) answered(status int, header http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch.answered(s.r.RemoteAddr, status, s.r.Proto, header, time.Since(s.start))
	s.head = &http.Response{StatusCode: status, Proto: s.r.Proto, Header: header.Clone()}
	s.told()
}

func (s *servedExchange) told() {
	if s.tell == nil || s.head == nil {
		return
	}
	req := s.r.WithContext(s.r.Context())
	req.URL = &url.URL{Scheme: "http", Host: s.r.Host, Path: s.r.URL.Path, RawPath: s.r.URL.RawPath, RawQuery: s.r.URL.RawQuery}
	if s.r.TLS != nil {
		req.URL.Scheme = "https"
	}
	s.tell(Exchange{Request: req, Response: s.head, Start: s.start, Wait: time.Since(s.start), Remote: s.r.RemoteAddr})
	s.tell = nil
}

// observed is t, of whose exchanges Config.Exchanged is told.
func (c Config) observed(t http.RoundTripper) http.RoundTripper {
	if c.Exchanged == nil {
		return t
	}
	return observer{t, c.Exchanged}
}

type observer struct {
	http.RoundTripper
	tell func(Exchange)
}

// CloseIdleConnections is what http.Client looks for.
func (o observer) CloseIdleConnections() {
	if c, ok := o.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func (o observer) RoundTrip(req *http.Request) (*http.Response, error) {
	m := &measuredExchange{x: Exchange{Request: req, Start: time.Now()}}
	trace := &httptrace.ClientTrace{
		ConnectStart:      func(string, string) { m.note(func(now time.Time) { m.connecting = now }) },
		ConnectDone:       func(string, string, error) { m.note(func(now time.Time) { m.x.Connect = now.Sub(m.connecting) }) },
		GotConn:           m.got,
		TLSHandshakeStart: func() { m.note(func(now time.Time) { m.shaking = now }) },
		TLSHandshakeDone:  func(tls.ConnectionState, error) { m.note(func(now time.Time) { m.x.TLS = now.Sub(m.shaking) }) },
		WroteRequest:      func(httptrace.WroteRequestInfo) { m.note(func(now time.Time) { m.sent = now }) },
	}
	resp, err := o.RoundTripper.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	m.note(func(now time.Time) {
		m.x.Response, m.x.Err = resp, err
		if !m.sent.IsZero() {
			m.x.Wait = now.Sub(m.sent)
		}
	})
	o.tell(m.x)
	return resp, err
}

// measuredExchange is an Exchange in the making. A connection that is not used after all may
// still be made when the exchange is over.
type measuredExchange struct {
	mu                        sync.Mutex
	over                      bool
	x                         Exchange
	connecting, shaking, sent time.Time
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

func (m *measuredExchange) got(i httptrace.GotConnInfo) {
	m.note(func(time.Time) {
		if i.Conn != nil && i.Conn.RemoteAddr() != nil {
			m.x.Remote = i.Conn.RemoteAddr().String()
		}
	})
}

// RedactURL returns u as it may be shown: without userinfo and the values of its
// query.
func RedactURL(u *url.URL) string {
	c := *u
	c.User = nil
	c.RawQuery, c.Fragment = "", ""
	query := redact.Query("?" + u.RawQuery)
	if u.RawQuery == "" {
		query = ""
	}
	return c.String() + query
}
