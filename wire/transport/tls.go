package transport

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"rpcx/wire"
)

// client returns the configuration of a dialler's side. serverName is the name
// that the certificate must have; "" leaves it to the caller. Roots are those
// of CACert alone where it is given, else the system's.
func (t TLS) Client(serverName string) (*tls.Config, error) {
	cfg := t.base()
	if serverName != "" {
		cfg.ServerName = serverName
	}
	cfg.InsecureSkipVerify = t.Insecure || cfg.InsecureSkipVerify
	if t.CACert != "" {
		pool, err := loadRoots(t.CACert)
		if err != nil {
			return nil, err
		}
		cfg.RootCAs = pool
	}
	if t.Cert == "" && t.Key != "" {
		return nil, Usage("--key %s needs --cert too", t.Key)
	}
	if t.Cert != "" {
		if err := t.loadPair(cfg); err != nil {
			return nil, err
		}
	}
	return cfg, nil
}

// server returns the configuration of a listener's side. It needs a
// certificate; with CACert the far side needs one too, signed by one of those
// roots.
func (t TLS) Server() (*tls.Config, error) {
	cfg := t.base()
	switch {
	case t.Cert != "":
		if err := t.loadPair(cfg); err != nil {
			return nil, err
		}
	case len(cfg.Certificates) == 0 && cfg.GetCertificate == nil:
		return nil, Usage("a TLS listener needs a certificate: --cert FILE and --key FILE")
	}
	if t.CACert != "" {
		pool, err := loadRoots(t.CACert)
		if err != nil {
			return nil, err
		}
		cfg.ClientCAs, cfg.ClientAuth = pool, tls.RequireAndVerifyClientCert
	}
	return cfg, nil
}

func (t TLS) base() *tls.Config {
	if t.ForTest != nil {
		return t.ForTest.Clone()
	}
	return &tls.Config{MinVersion: tls.VersionTLS12}
}

// loadPair reads Cert and Key; without Key, Cert holds both.
func (t TLS) loadPair(cfg *tls.Config) error {
	key := t.Key
	if key == "" {
		key = t.Cert
	}
	pair, err := tls.LoadX509KeyPair(t.Cert, key)
	if err != nil {
		return wire.NewFault(wire.Usage, fmt.Sprintf("certificate %s with key %s: %v", t.Cert, key, err), err)
	}
	cfg.Certificates = []tls.Certificate{pair}
	return nil
}

func loadRoots(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, wire.NewFault(wire.Usage, fmt.Sprintf("--cacert: %v", err), err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, Usage("--cacert %s: holds no PEM certificate", file)
	}
	return pool, nil
}
