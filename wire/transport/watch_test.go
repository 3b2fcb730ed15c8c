package transport

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// -v describes a certificate in one line.
func TestCertificate(t *testing.T) {
	at := func(year int) time.Time { return time.Date(year, 2, 3, 23, 0, 0, 0, time.FixedZone("", -3600)) }
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "me"}, Issuer: pkix.Name{CommonName: "ca"}, NotBefore: at(2020), NotAfter: at(2030),
	}
	if got, want := certificate(c, 0), "certificate: CN=me, issued by CN=ca, valid from 2020-02-04 to 2030-02-04"; got != want {
		t.Error(got)
	}
	c.DNSNames, c.IPAddresses = []string{"a", "b"}, []net.IP{net.IPv4(127, 0, 0, 1)}
	if got, want := certificate(c, 1), "signed by: CN=me, for a b 127.0.0.1, issued by CN=ca, valid from 2020-02-04 to 2030-02-04"; got != want {
		t.Error(got)
	}
	c.DNSNames = strings.Fields("1 2 3 4 5 6 7 8 9 10")
	if got := certificate(c, 2); !strings.Contains(got, "for 1 2 3 4 5 6 7 8 9 10, issued") || !strings.HasPrefix(got, "signed by: ") {
		t.Error(got)
	}
}

func TestRedactURL(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"http://u:p@h/x", "http://h/x"},
		{"http://h/x?token=abc&y", "http://h/x?token=…&y"},
		{"http://h/x?", "http://h/x?"},
		{"http://h/x#secret", "http://h/x"},
	} {
		u, err := url.Parse(c.text)
		testkit.OK(t, err)
		testkit.Expect(t, c.text, RedactURL(u), c.want)
	}
}

// -v shows the lookup of a name, the attempts to connect, and the facts of a TLS connection.
func TestWatch(t *testing.T) {
	var got []string
	var mu sync.Mutex
	w := &Watch{Fact: func(f wire.Fact) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, f.Step+": "+f.Text)
		if f.Step == "name" && f.Took > time.Minute {
			t.Errorf("the lookup took %v", f.Took)
		}
	}}
	w.Secured("", tls.ConnectionState{Version: tls.VersionTLS13, CipherSuite: tls.TLS_AES_128_GCM_SHA256, NegotiatedProtocol: "h2", ServerName: "n"}, true, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.OK(t, err)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for range 2 { // connects, and is refused
		if conn, err := new(net.Dialer).DialContext(w.Dialling(t.Context()), "tcp4", "localhost:"+port); err == nil {
			conn.Close()
		}
		l.Close()
	}
	text := strings.Join(got, "\n")
	for _, want := range []string{
		"tls: TLS 1.3, TLS_AES_128_GCM_SHA256, h2, for the name n", "name: the name resolves to ", "127.0.0.1",
		"connected: connected to tcp4 127.0.0.1:" + port, "connect: 127.0.0.1:" + port + ": connect: connection refused",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}
