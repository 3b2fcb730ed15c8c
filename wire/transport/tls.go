package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"

	"rpcx/wire"
	"rpcx/wire/userfile"
)

// Client returns the configuration of a TLS client. serverName is the required name in the certificate. With "", the
// caller must set the name. The roots are those in CACert, or by default the system's.
func (t TLS) Client(serverName string) (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: serverName, InsecureSkipVerify: t.Insecure}
	var err error
	if t.CACert != "" {
		if cfg.RootCAs, err = loadRoots(t.CACert); err != nil {
			return nil, err
		}
	}
	if t.Cert == "" && t.Key != "" {
		return nil, wire.Usagef("--key %s needs --cert too", t.Key)
	}
	if t.Cert != "" {
		cfg.Certificates, err = t.loadPair()
	}
	return cfg, err
}

// Server returns the configuration of a TLS server, which needs a certificate. With CACert, clients need a certificate
// from one of the roots in CACert.
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

// loadPair reads Cert and Key. Without Key, Cert contains both.
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

// SpeaksTLS reports whether the server at host and port completes a TLS handshake with any certificate. It sends only
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
