package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
)

// PieceShown limits the excerpt of a piece, in bytes.
const PieceShown = 2 << 10

// A Watch receives reports about the steps of a connection. Its functions are called from several goroutines. They must
// not keep their arguments. A nil Watch receives nothing.
type Watch struct {
	Fact  func(wire.Fact)
	Piece func(wire.Piece) // receives the bytes; may be nil
}

// Tell reports a fact.
func (w *Watch) Tell(f wire.Fact) {
	if w != nil && w.Fact != nil {
		w.Fact(f)
	}
}

// Tellf reports a fact about the peer.
func (w *Watch) Tellf(step, format string, args ...any) {
	w.Tell(wire.Fact{Step: step, Text: fmt.Sprintf(format, args...)})
}

// Pieces returns a function to call with the bytes of one stream, in both directions. It is nil if no bytes are shown.
func (w *Watch) Pieces(who string) func(d wire.Direction, b []byte) {
	if w == nil || w.Piece == nil {
		return nil
	}
	var dirs [2]redact.Stream // each direction is used by only one goroutine at a time
	return func(d wire.Direction, b []byte) {
		shown := redact.Spans(dirs[d].Append(nil, b))
		w.Piece(wire.Piece{Who: who, Dir: d, Size: len(b), Shown: shown[:min(len(shown), PieceShown)]})
	}
}

// Dialling returns a context with which name lookups and attempts to connect are reported.
func (w *Watch) Dialling(ctx context.Context) context.Context {
	if w == nil || w.Fact == nil {
		return ctx
	}
	var mu sync.Mutex // several addresses may be tried at the same time
	var looked time.Time
	began := map[string]time.Time{}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { looked = time.Now() },
		DNSDone: func(i httptrace.DNSDoneInfo) {
			all := wire.Map(i.Addrs, func(a net.IPAddr) string { return a.String() })
			if len(all) > 0 {
				w.Tell(wire.Fact{Step: "name", Text: "the name resolves to " + strings.Join(all, ", "), Took: time.Since(looked)})
			}
		},
		ConnectStart: func(_, addr string) {
			mu.Lock()
			defer mu.Unlock()
			began[addr] = time.Now()
		},
		ConnectDone: func(network, addr string, err error) {
			mu.Lock()
			took := max(time.Since(began[addr]), 1)
			mu.Unlock()
			if err != nil {
				w.Tellf("connect", "%s: %v", addr, Innermost(WithoutAddress(err)))
				return
			}
			w.Tell(wire.Fact{Step: "connected", Text: "connected to " + network + " " + addr, At: addr, Took: took})
		},
	})
}

// WithoutAddress returns the error without the text of package net, which repeats the address.
func WithoutAddress(err error) error {
	if op, ok := err.(*net.OpError); ok {
		return op.Err
	}
	return err
}

// Secured reports that a TLS handshake is complete. On a listener, who is the name of the client.
func (w *Watch) Secured(who string, s tls.ConnectionState, checked bool, took time.Duration) {
	if w == nil || w.Fact == nil {
		return
	}
	text := tls.VersionName(s.Version) + ", " + tls.CipherSuiteName(s.CipherSuite)
	if s.NegotiatedProtocol != "" {
		text += ", " + s.NegotiatedProtocol
	}
	if s.ServerName != "" {
		text += ", for the name " + s.ServerName
	}
	f := wire.Fact{Step: "tls", Text: text, Who: who, Took: took}
	for i, c := range s.PeerCertificates {
		f.Lines = append(f.Lines, certificate(c, i))
	}
	switch {
	case len(s.PeerCertificates) == 0:
	case checked:
		f.Lines = append(f.Lines, "the certificate was verified")
	default:
		f.Lines = append(f.Lines, "the certificate was not verified (--insecure)")
	}
	w.Tell(f)
}

// certificate describes one certificate of a chain. place is its index in the chain.
func certificate(c *x509.Certificate, place int) string {
	what := "certificate"
	if place > 0 {
		what = "signed by"
	}
	names := slices.Clone(c.DNSNames)
	names = append(names, wire.Map(c.IPAddresses, func(ip net.IP) string { return ip.String() })...)
	text := what + ": " + c.Subject.String()
	if len(names) > 0 {
		text += ", for " + strings.Join(names[:min(len(names), 10)], " ")
	}
	return text + ", issued by " + c.Issuer.String() + ", valid from " + c.NotBefore.UTC().Format(time.DateOnly) + " to " + c.NotAfter.UTC().Format(time.DateOnly)
}

// Requested reports the head of a request.
func (w *Watch) Requested(who, method, target, proto string, lines []string) {
	if w != nil && w.Fact != nil {
		w.Tell(wire.Fact{Step: "request", Text: method + " " + redact.Query(target) + " " + proto, Lines: lines, Who: who})
	}
}

// Answered reports the head of a response.
func (w *Watch) Answered(who string, status int, proto string, h http.Header, took time.Duration) {
	if w != nil && w.Fact != nil {
		text := strings.TrimSpace(fmt.Sprintf("%s %d %s", proto, status, http.StatusText(status)))
		w.Tell(wire.Fact{Step: "response", Text: text, Lines: HeadLines(h), Who: who, Took: took})
	}
}

// HeadLines returns the redacted lines of a head, sorted by name.
func HeadLines(h http.Header) (lines []string) {
	for name, values := range h {
		lines = append(lines, HeadLine(name, values))
	}
	slices.Sort(lines)
	return lines
}

// HeadLine returns one line of a head, redacted.
func HeadLine(name string, values []string) string {
	switch {
	case redact.SecretField(name):
		return name + ": " + redact.Mark
	case name == "Location" || name == "Referer":
		return name + ": " + redact.Query(strings.Join(values, ", "))
	}
	return name + ": " + string(redact.Text([]byte(strings.Join(values, ", "))))
}

// ShownBody returns body, but also passes everything that is read from it to show.
func ShownBody(body io.ReadCloser, show func([]byte)) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(body, shower(show)), body}
}

// A shower is a writer that calls a function with each write.
type shower func([]byte)

func (s shower) Write(b []byte) (int, error) {
	s(b)
	return len(b), nil
}

// An Exchange describes one HTTP exchange when the head of its response has arrived. The exchange is an upgrade, a
// POST, or a request for an event stream. A function that receives an Exchange must not read the bodies.
type Exchange struct {
	Request  *http.Request
	Response *http.Response // may be nil
	Err      error          // why there is no response, or nil
	Start    time.Time      // when the exchange started
	Connect  time.Duration  // how long connecting took, without TLS; 0 if the connection was reused
	TLS      time.Duration  // how long the TLS handshake took
	Wait     time.Duration  // from the request to the head of the response
	Remote   string         // the peer's address, or ""
}

// RedactURL returns u without its userinfo and without the values in its query.
func RedactURL(u *url.URL) string {
	c := *u
	c.User, c.Fragment = nil, ""
	return redact.Query(c.String())
}
