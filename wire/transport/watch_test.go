package transport

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"
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
		if err != nil {
			t.Fatal(err)
		}
		if got := RedactURL(u); got != c.want {
			t.Errorf("GOLD %q\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}
