package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/userfile"
)

// Client returns the configuration for a TLS client. serverName is the name that the certificate must contain. If it is
// "", the caller must set the name. The roots are those in CACert or, if that is "", those of the system.
func (t TLS) Client(serverName string) (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: serverName, InsecureSkipVerify: t.Insecure}
	var err error
	if t.CACert != "" {
		if cfg.RootCAs, err = loadRoots(t.CACert); err != nil {
			return nil, err
		}
	}
	if t.Cert == "" && t.Key != "" {
		return nil, wire.Usagef("--key %s needs --cert", t.Key)
	}
	if t.Cert != "" {
		cfg.Certificates, err = t.loadPair()
	}
	return cfg, err
}

// NoteRequests records in which handshakes with cfg a server requests a certificate and gets none. It returns a function
// that replaces the error of such a handshake: the alert of TLS 1.2 for a missing certificate is a general one.
func NoteRequests(cfg *tls.Config) func(error) error {
	var requested atomic.Bool
	if len(cfg.Certificates) == 0 {
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			requested.Store(true)
			return new(tls.Certificate), nil
		}
	}
	return func(err error) error {
		if op, ok := errors.AsType[*net.OpError](err); ok && requested.Load() && op.Op == "remote error" && op.Err.Error() == "tls: handshake failure" {
			return &net.OpError{Op: op.Op, Err: errCertificateRequired}
		}
		return err
	}
}

// Server returns the configuration for a TLS server, which must have a certificate. If CACert is set, clients need a
// certificate that is signed by one of its roots.
func (t TLS) Server() (*tls.Config, error) {
	if t.Cert == "" {
		return nil, wire.Usagef("a TLS listener needs a certificate: --cert FILE and --key FILE")
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	var err error
	if cfg.Certificates, err = t.loadPair(); err == nil && t.CACert != "" {
		cfg.ClientAuth = tls.RequireAndVerifyClientCert
		cfg.ClientCAs, err = loadRoots(t.CACert)
	}
	return cfg, err
}

// loadPair reads Cert and Key. If Key is "", Cert contains both.
func (t TLS) loadPair() ([]tls.Certificate, error) {
	key := cmp.Or(t.Key, t.Cert)
	chain, err := userfile.Read(t.Cert)
	secret, keyErr := userfile.Read(key)
	var pair tls.Certificate
	if err = cmp.Or(err, keyErr); err == nil {
		pair, err = tls.X509KeyPair(chain, secret)
	}
	if err != nil {
		return nil, wire.NewFault(wire.Usage, fmt.Sprintf("certificate %s with key %s: %v", t.Cert, key, err), err)
	}
	return []tls.Certificate{pair}, nil
}

func loadRoots(file string) (*x509.CertPool, error) {
	pem, err := userfile.Read(file)
	if err != nil {
		return nil, wire.NewFault(wire.Usage, fmt.Sprintf("--cacert: %v", err), err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, wire.Usagef("--cacert %s: contains no PEM certificate", file)
	}
	return pool, nil
}

// SpeaksTLS reports whether the server at hostPort completes a TLS handshake, with whatever certificate. It sends only
// the handshake.
func SpeaksTLS(ctx context.Context, hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return false
	}
	conn, err := (&tls.Dialer{Config: &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}}).DialContext(ctx, "tcp", hostPort)
	if err == nil {
		_ = conn.Close()
	}
	var certificate *tls.CertificateVerificationError
	var alert tls.AlertError
	return err == nil || errors.As(err, &certificate) || errors.As(err, &alert)
}
