//go:build linux

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"sync"
	"time"
)

// tlsFaults returns the faults that occur before TLS is established.
func tlsFaults() []*fault {
	hello := func(raw net.Conn) {
		raw.SetReadDeadline(time.Now().Add(5 * time.Second))
		raw.Read(make([]byte, 4096))
		raw.SetReadDeadline(time.Time{})
	}
	after := func(do func(p *peer, raw net.Conn)) func(*peer, net.Conn) {
		return func(p *peer, raw net.Conn) {
			hello(raw)
			do(p, raw)
		}
	}
	wait := func(p *peer, raw net.Conn) {
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			for b := make([]byte, 4096); ; {
				if _, err := raw.Read(b); err != nil {
					return
				}
			}
		}()
		select {
		case <-p.done:
		case <-gone:
		}
	}
	garbage := func(p *peer, raw net.Conn) {
		b := make([]byte, 64)
		for i := range b {
			b[i] = byte(p.rng.Uint32())
		}
		raw.Write(b)
		wait(p, raw)
	}
	// instead sends bytes in place of a client's ClientHello.
	instead := func(b ...byte) func(*peer, net.Conn) {
		return func(p *peer, raw net.Conn) {
			raw.Write(b)
			wait(p, raw)
		}
	}
	all := []*fault{
		{name: "tls-alert", clientDial: instead(21, 3, 3, 0, 2, 2, 40), dial: after(func(p *peer, raw net.Conn) {
			raw.Write([]byte{21, 3, 3, 0, 2, 2, 40}) // handshake_failure
			wait(p, raw)
		})},
		{name: "tls-cut", clientDial: func(_ *peer, raw net.Conn) { raw.Write([]byte{22, 3, 1, 0}) }, dial: after(func(*peer, net.Conn) {})},
		{name: "tls-rst", clientDial: func(_ *peer, raw net.Conn) { raw.(*net.TCPConn).SetLinger(0) }, dial: after(func(_ *peer, raw net.Conn) { raw.(*net.TCPConn).SetLinger(0) })},
		{name: "tls-plain", clientDial: instead([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")...), dial: after(func(p *peer, raw net.Conn) {
			raw.Write([]byte("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"))
			wait(p, raw)
		})},
		{name: "tls-garbage", clientDial: garbage, dial: after(garbage)},
		{name: "tls-stranger", dial: func(p *peer, raw net.Conn) {
			tls.Server(raw, strangers().config).Handshake()
			wait(p, raw)
		}},
		{name: "tls-never", clientDial: wait, dial: wait},
	}
	for _, f := range all {
		f.at, f.kind, f.only = atDial, refused, tlsOnly
	}
	all[len(all)-1].kind = silent
	return all
}

// An authority signs one certificate for 127.0.0.1.
type authority struct {
	pem    []byte // its own certificate in PEM form
	key    []byte
	config *tls.Config
}

var ours, strangers = sync.OnceValue(newAuthority), sync.OnceValue(newAuthority)

func newAuthority() authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "faults"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	must(err)
	return authority{
		key:    pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
		pem:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		config: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
	}
}

func must(err error) {
	if err != nil {
		unlessSignalled()
		os.Stderr.WriteString("faults: " + err.Error() + "\n")
		os.Exit(2)
	}
}
