package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/syserr"
)

// DialFault converts the error of a failed dial to a Fault that contains the address and the reason. where is the
// redacted address, and limit is the connect timeout. ctx is the caller's context, which does not include that timeout.
// The kind is Protocol if the peer's response is not valid HTTP.
func DialFault(ctx context.Context, where string, limit time.Duration, err error) *wire.Fault {
	if f := wire.AsFault(err); f != nil {
		return f
	}
	f := wire.NewFault(wire.Unreachable, "", withoutEOF(err))
	if cause := wire.Ended(ctx); cause != nil {
		f.Message, f.Err = fmt.Sprintf("stopped connecting to %s: %v", where, cause), cause
		return f
	}
	op, ok := errors.AsType[*net.OpError](err)
	proxy := ok && op.Op == "proxyconnect"
	if why := NotHTTP(err); why != "" && !proxy {
		f.Kind, f.Message = wire.Protocol, where+": "+why
		return f
	}
	why := explain(f, limit, err)
	if proxy {
		if why == NoTLS {
			f.Hint = "for a proxy without TLS use http://HOST:PORT"
		}
		why = viaProxyText + why
	}
	f.Message = fmt.Sprintf("cannot connect to %s: %s", where, why)
	return f
}

// These strings are parts of messages about failed dials. Package endpoint recognizes the exported ones.
const (
	NoTLS        = "the server does not use TLS"
	NoResponse   = "the peer closed the connection without a response"
	viaProxyText = "the proxy: " // precedes a failure of the proxy
)

// OfProxy reports whether the proxy could not be reached, which reveals nothing about the peer.
func OfProxy(f *wire.Fault) bool { return strings.Contains(f.Message, ": "+viaProxyText) }

// notHTTP lists parts of net/http's errors about responses that are not valid. It has no error types for them. Each part
// has a space, so that no host name contains it.
var notHTTP = []string{"malformed HTTP", "malformed MIME", "chunk length", "chunked ", " Content-Length", "transfer encoding", "headers exceeded"}

// NotHTTP returns what is wrong with a response if err means that it is not valid HTTP, or "".
func NotHTTP(err error) string {
	text := Root(err).Error()
	if !slices.ContainsFunc(notHTTP, func(part string) bool { return strings.Contains(text, part) }) {
		return ""
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "net/"), "http: ")
	return "the response is not valid HTTP: " + FirstLine([]byte(text))
}

// withoutEOF returns err as a cause for which errors.Is does not find io.EOF. A connection that ends before its
// handshake has failed, but io.EOF stands for the regular end of a stream.
func withoutEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New(Innermost(err).Error())
	}
	return err
}

// explain describes why a dial failed. It also sets the kind and the hint of f, and Unreached if the peer did not respond
// or closed the connection, because a retry may then help.
func explain(f *wire.Fault, limit time.Duration, err error) string {
	if why := explainTLS(f, err); why != "" {
		return why
	}
	var dns *net.DNSError
	f.Unreached = true
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("no such host: %s", dns.Name)
	case errors.As(err, &dns) && !dns.IsTimeout:
		return fmt.Sprintf("the lookup of %s failed: %s", dns.Name, dns.Err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		f.Hint = "--connect-timeout changes the limit"
		return fmt.Sprintf("no response within %v", limit)
	case syserr.Refused(err):
		return "connection refused" + dialled(err)
	case errors.Is(err, fs.ErrNotExist):
		return "no such socket"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return NoResponse
	case syserr.Reset(err):
		return "the peer reset the connection"
	}
	f.Unreached = syserr.BrokenPipe(err)
	switch {
	case syserr.Denied(err):
		return "permission denied"
	case syserr.NoSockets(err):
		return "this system does not support sockets of this type"
	case syserr.NoStream(err):
		return "it is not a stream socket"
	}
	return Innermost(err).Error()
}

// explainTLS is like explain, but only for failures of TLS. It returns "" for other errors.
func explainTLS(f *wire.Fault, err error) string {
	var (
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
		op      *net.OpError
	)
	switch {
	case errors.As(err, &unknown):
		f.Hint = "name its authority with --cacert FILE, or skip verification with --insecure"
		return "its certificate is signed by an unknown authority"
	case errors.As(err, &name):
		return "its certificate is for another name: " + name.Error()
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired or is not yet valid"
	case errors.As(err, &invalid):
		return "its certificate is not valid: " + invalid.Error()
	case errors.As(err, &record), err != nil && strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return NoTLS
	case errors.As(err, &op) && op.Op == "remote error":
		if why := refusedCertificate(op.Err.Error()); why != "" {
			f.Kind, f.Hint = wire.Auth, "send a client certificate with --cert FILE and --key FILE"
			return why
		}
		return "the peer ended the TLS handshake: " + strings.TrimPrefix(op.Err.Error(), "tls: ")
	}
	return ""
}

// errCertificateRequired has the text of the TLS 1.3 alert.
var errCertificateRequired = errors.New("tls: certificate required")

// refusedCertificate describes a TLS alert with which the peer has refused the client certificate. It returns "" for
// other alerts. It compares texts, because crypto/tls does not export the names of alerts.
func refusedCertificate(alert string) string {
	if alert == errCertificateRequired.Error() {
		return "the peer requires a client certificate"
	}
	switch alert = strings.TrimPrefix(alert, "tls: "); alert {
	case "bad certificate", "unsupported certificate", "revoked certificate", "expired certificate",
		"unknown certificate", "unknown certificate authority", "access denied":
		return "the peer refused the client certificate: " + alert
	}
	return ""
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// dialled returns the address that was dialled, if the error contains it.
func dialled(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Addr != nil && op.Addr.Network() == "tcp" {
		return " by " + op.Addr.String()
	}
	return ""
}

// Innermost returns the error inside err that contains no URL, because URLs may contain secrets.
func Innermost(err error) error {
	var u *url.Error
	for errors.As(err, &u) {
		err = u.Err
	}
	return err
}

// Root returns the error that err wraps, and that wraps no other.
func Root(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err
}

// LateRefusal returns an Auth Fault if err is the alert with which a TLS 1.3 server refuses the client's certificate.
// That alert arrives only after the handshake.
func LateRefusal(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" {
		f := wire.NewFault(wire.Closed, "", err)
		if f.Message = explainTLS(f, err); f.Kind == wire.Auth {
			return f
		}
	}
	return err
}

// MaxErrorBody limits the excerpt, in bytes, from a response body that is not a message.
const MaxErrorBody = 1024

// HTTPFault returns the Fault for an HTTP status. Its kind is Auth for 401, 403 and 407, and Unreachable for others.
func HTTPFault(what string, resp *http.Response, body []byte) *wire.Fault {
	kind, status := wire.Unreachable, resp.StatusCode
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		kind = wire.Auth
	}
	body = redact.KnownBytes(body)
	body = body[:min(len(body), MaxErrorBody)]
	msg := fmt.Sprintf("%s: %d %s", what, status, http.StatusText(status))
	if line := FirstLine(body); line != "" {
		msg = strings.TrimSuffix(msg, " ") + ": " + line
	}
	f := wire.NewFault(kind, strings.TrimSuffix(msg, " "), nil)
	f.HTTP = &wire.HTTP{Status: status, Body: strings.ToValidUTF8(string(body), "\uFFFD"), RetryAfter: retryAfter(resp)}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		f.Retryable = new(true)
	}
	f.HTTP.Challenges = resp.Header.Values("WWW-Authenticate")
	f.HTTP.Challenge, _, _ = strings.Cut(resp.Header.Get("WWW-Authenticate"), " ")
	return f
}

// longestRetryAfter is the longest pause that a server can request.
const longestRetryAfter = 24 * time.Hour

// retryAfter returns the pause that the server requests, in seconds, or 0.
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

// FirstLine returns the first line of a response body, for a message of one line. The Fault contains the whole body.
func FirstLine(body []byte) string {
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

// BasicAuth returns the value of an Authorization header for u.
func BasicAuth(u *url.Userinfo) string {
	password, _ := u.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password))
}
