package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/syserr"
)

// DialFault turns the error of a dial into a Fault that says which address
// could not be reached, and why, in plain words. where is the address without
// secrets; ctx is the caller's own context (not the one that bounds the dial
// by limit).
func DialFault(ctx context.Context, where string, limit time.Duration, err error) *wire.Fault {
	if f := wire.AsFault(err); f != nil {
		return f
	}
	f := wire.NewFault(wire.Unreachable, "", noEnd(err))
	if cause := wire.Ended(ctx); cause != nil {
		f.Message, f.Err = fmt.Sprintf("gave up connecting to %s: %v", where, cause), cause
		return f
	}
	why := explain(f, limit, err)
	f.Unreached = notThere(err)
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "proxyconnect" {
		if why == noTLS {
			f.Hint = "a proxy without TLS is named http://HOST:PORT"
		}
		why = viaProxyText + why
	}
	f.Message = fmt.Sprintf("cannot connect to %s: %s", where, why)
	return f
}

// What is said of a dial that failed.
const (
	noTLS        = "it does not speak TLS"
	viaProxyText = "the proxy: " // before what went wrong on the way to one
)

// OfProxy reports whether it was a proxy that could not be reached, so that the failure says nothing of the peer.
func OfProxy(f *wire.Fault) bool { return strings.Contains(f.Message, ": "+viaProxyText) }

// notThere reports whether a dial failed because nothing answered, or was cut off:
// trying again may help.
func notThere(err error) bool {
	var dns *net.DNSError
	if syserr.Refused(err) || syserr.Reset(err) || syserr.BrokenPipe(err) {
		return true
	}
	for _, cause := range []error{fs.ErrNotExist, io.EOF, io.ErrUnexpectedEOF, context.DeadlineExceeded, os.ErrDeadlineExceeded} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return errors.As(err, &dns) || isTimeout(err)
}

// noEnd returns err as a cause in which errors.Is does not find io.EOF. A
// connection that ends before it stands is a failure, and only io.EOF by itself is
// the good end of a stream.
func noEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New(Innermost(err).Error())
	}
	return err
}

// explain says why a dial failed, and gives f its kind and hint.
func explain(f *wire.Fault, limit time.Duration, err error) string {
	if why := explainTLS(f, err); why != "" {
		return why
	}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("no such host: %s", dns.Name)
	case errors.As(err, &dns) && !dns.IsTimeout:
		return fmt.Sprintf("looking up %s: %s", dns.Name, dns.Err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		f.Hint = "--connect-timeout changes the limit"
		return fmt.Sprintf("no answer within %v", limit)
	case syserr.Refused(err):
		return "connection refused" + dialled(err)
	case errors.Is(err, fs.ErrNotExist):
		return "no such socket"
	case syserr.Denied(err):
		return "permission denied"
	case syserr.NoSockets(err):
		return "this system has no such sockets"
	case syserr.NoStream(err):
		return "not a stream socket"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the peer hung up without an answer"
	case syserr.Reset(err):
		return "the peer reset the connection"
	}
	return Innermost(err).Error()
}

// explainTLS is explain for what can go wrong with certificates; "" when
// err is nothing of the kind.
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
		f.Hint = "--cacert FILE names its authority; --insecure goes on without knowing who answers"
		return "its certificate is signed by an unknown authority"
	case errors.As(err, &name):
		return "its certificate is for another name: " + name.Error()
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired or is not yet valid"
	case errors.As(err, &invalid):
		return "its certificate is not valid: " + invalid.Error()
	case errors.As(err, &record), err != nil && strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return noTLS
	case errors.As(err, &op) && op.Op == "remote error":
		if why := refusedCertificate(op.Err.Error()); why != "" {
			f.Kind, f.Hint = wire.Auth, "--cert FILE and --key FILE name a certificate of ours"
			return why
		}
		return "the peer ended the TLS handshake: " + strings.TrimPrefix(op.Err.Error(), "tls: ")
	}
	return ""
}

// refusedCertificate explains a TLS alert by which the peer refused our
// certificate; "" for other alerts. The alerts have no exported names in
// crypto/tls.
func refusedCertificate(alert string) string {
	alert = strings.TrimPrefix(alert, "tls: ")
	switch alert {
	case "certificate required":
		return "the peer demands a client certificate"
	case "bad certificate", "unsupported certificate", "revoked certificate", "expired certificate",
		"unknown certificate", "unknown certificate authority", "access denied":
		return "the peer refused our client certificate: " + alert
	}
	return ""
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// dialled returns the address that was tried, where the error knows it.
func dialled(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Addr != nil && op.Addr.Network() == "tcp" {
		return " by " + op.Addr.String()
	}
	return ""
}

// Innermost drops the wrapping that holds URLs, and with them secrets.
func Innermost(err error) error {
	var u *url.Error
	for errors.As(err, &u) {
		err = u.Err
	}
	return err
}

// LateRefusal makes an Auth Fault of the alert by which a TLS 1.3 server
// refuses a client's certificate: the handshake is over by then.
func LateRefusal(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "remote error" {
		f := wire.NewFault(wire.Closed, "", err)
		if f.Message = explainTLS(f, err); f.Kind == wire.Auth {
			return f
		}
	}
	return err
}

// TooLong returns the Fault of a message over the limit.
func TooLong(max int) error {
	return wire.NewFault(wire.Protocol, fmt.Sprintf("a message is longer than %d bytes, the limit of --max-message", max), nil)
}
