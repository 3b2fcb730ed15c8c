package stream

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// --proxy accepts these forms, which yield the proxy's host and port.
func TestParseProxy(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"h", "http://h at h:80"},
		{"h:1", "http://h:1 at h:1"},
		{"http://h", "http://h at h:80"},
		{"https://h", "https://h at h:443"},
		{"socks5://h", "socks5://h at h:1080"},
		{"socks5h://u:p@h", "socks5h://u:p@h at h:1080"},
		{"socks5h://[::1]", "socks5h://[::1] at [::1]:1080"},
		{"https://[::1]:5", "https://[::1]:5 at [::1]:5"},
		{"http://h/", "http://h/ at h:80"},
		{"http://h/x", "no: a proxy needs a host and a port, such as http://127.0.0.1:3128"},
		{"http://h?x", "no: a proxy needs a host and a port, such as http://127.0.0.1:3128"},
		{"http://:1", "no: a proxy needs a host and a port, such as http://127.0.0.1:3128"},
		{"http://", "no: a proxy needs a host and a port, such as http://127.0.0.1:3128"},
		{"ftp://h", `no: unknown proxy scheme "ftp"; use http, https, socks5 or socks5h`},
		{"HTTP://h", "http://h at h:80"},
		{"http://u:secret@h:x", "no: it is not a URL such as http://127.0.0.1:3128"},
		{"", "no: a proxy needs a host and a port, such as http://127.0.0.1:3128"},
	} {
		u, err := ParseProxy(c.text)
		got := ""
		if err != nil {
			got = "no: " + err.Error()
		} else {
			got = u.String() + " at " + transport.HostPort(u)
		}
		if got != c.want || strings.Contains(got, "secret") {
			t.Errorf("GOLD %q\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

// --resolve accepts and rejects these values.
func TestParseResolve(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"example.org:443:127.0.0.1", "example.org:443 127.0.0.1"},
		{"EXAMPLE.org:1:::1", "example.org:1 ::1"},
		{"h:1:[::1]", "h:1 ::1"},
		{"[::1]:80:127.0.0.1", "[::1]:80 127.0.0.1"},
		{"[::1]:80", `no: "[::1]:80" is not HOST:PORT:ADDRESS, such as example.org:443:127.0.0.1`},
		{"h:80", `no: "h:80" is not HOST:PORT:ADDRESS, such as example.org:443:127.0.0.1`},
		{"h:x:127.0.0.1", `no: "h:x:127.0.0.1" is not HOST:PORT:ADDRESS, such as example.org:443:127.0.0.1`},
		{"h:65535:127.0.0.1", "h:65535 127.0.0.1"},
		{"h:65536:127.0.0.1", `no: "h:65536:127.0.0.1" is not HOST:PORT:ADDRESS, such as example.org:443:127.0.0.1`},
		{":80:127.0.0.1", `no: ":80:127.0.0.1" is not HOST:PORT:ADDRESS, such as example.org:443:127.0.0.1`},
		{"h:80:localhost", `no: "h:80:localhost" is not HOST:PORT:ADDRESS, such as example.org:443:127.0.0.1`},
		{"h", `no: "h" is not HOST:PORT:ADDRESS, such as example.org:443:127.0.0.1`},
		{"[::1", `no: "[::1" is not HOST:PORT:ADDRESS, such as example.org:443:127.0.0.1`},
	} {
		hostPort, address, err := ParseResolve(c.text)
		got := hostPort + " " + address
		if err != nil {
			got = "no: " + err.Error()
		}
		testkit.Expect(t, c.text, got, c.want)
	}
	r := transport.Route{Resolve: map[string]string{"h:80": "127.0.0.1", "h6:80": "::1"}}
	for to, want := range map[string]string{"h:80": "127.0.0.1:80", "H:80": "127.0.0.1:80", "h:81": "h:81", "h6:80": "[::1]:80"} {
		testkit.Expect(t, to, resolved(r, to), want)
	}
}

// The environment's proxy depends on the kind of address.
func TestProxyOfTheEnvironment(t *testing.T) {
	for _, name := range []string{"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY", "REQUEST_METHOD"} {
		t.Setenv(name, "")
	}
	for _, c := range []struct{ env, scheme, to, want string }{
		{"", "http", "h:1", "none"},
		{"http_proxy=p:1", "http", "h:1", "http://p:1"},
		{"http_proxy=p:1", "ws", "h:1", "http://p:1"},
		{"http_proxy=p:1", "https", "h:1", "none"},
		{"http_proxy=p:1", "tcp", "h:1", "none"},
		{"https_proxy=p:1", "https", "h:1", "http://p:1"},
		{"https_proxy=p:1", "wss", "h:1", "http://p:1"},
		{"https_proxy=p:1", "http", "h:1", "none"},
		{"https_proxy=p:1", "tcp", "h:1", "none"},
		{"https_proxy=p:1", "tls", "h:1", "none"},
		{"all_proxy=socks5://p", "tcp", "h:1", "socks5://p"},
		{"ALL_PROXY=socks5://p", "tls", "h:1", "socks5://p"},
		{"all_proxy=socks5://p", "http", "h:1", "socks5://p"},
		{"all_proxy=socks5://p", "wss", "h:1", "socks5://p"},
		{"all_proxy=a ALL_PROXY=b", "wss", "h:1", "http://a"},
		{"all_proxy=a http_proxy=b https_proxy=c", "ws", "h:1", "http://b"},
		{"all_proxy=a http_proxy=b https_proxy=c", "wss", "h:1", "http://c"},
		{"all_proxy=a http_proxy=b https_proxy=c", "tls", "h:1", "http://a"},
		{"all_proxy=a no_proxy=h", "tls", "h:1", "none"},
		{"all_proxy=a no_proxy=g", "tls", "h:1", "http://a"},
		{"all_proxy=a no_proxy=*", "tls", "h:1", "none"},
		{"all_proxy=a no_proxy=h", "tls", "h.x:1", "http://a"},
		{"all_proxy=a", "tls", "127.0.0.1:1", "none"},
		{"HTTP_PROXY=a", "http", "h:1", "http://a"},
		{"HTTP_PROXY=a REQUEST_METHOD=GET", "http", "h:1", "no: refusing to use HTTP_PROXY value in CGI environment; see golang.org/s/cgihttpproxy"},
		{"all_proxy=a REQUEST_METHOD=GET", "http", "h:1", "none"},
		{"all_proxy=http://h/x", "tcp", "h:1", "no: the proxy in the environment: a proxy needs a host and a port, such as http://127.0.0.1:3128"},
	} {
		t.Run("", func(t *testing.T) {
			for _, pair := range strings.Fields(c.env) {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			u, err := proxyFor(transport.Route{}, c.scheme, c.to)
			got := "none"
			if err != nil {
				got = "no: " + err.Error()
			} else if u != nil {
				got = u.String()
			}
			testkit.Expect(t, c.env+" "+c.scheme+" "+c.to, got, c.want)
			if u, err := proxyFor(transport.Route{Direct: true}, c.scheme, c.to); u != nil || err != nil {
				t.Errorf("%v, %v with Direct", u, err)
			}
			own := &url.URL{Scheme: "http", Host: "own"}
			if u, err := proxyFor(transport.Route{Proxy: own}, c.scheme, c.to); u != own || err != nil {
				t.Errorf("%v, %v with a given proxy", u, err)
			}
		})
	}
	t.Setenv("https_proxy", "P")
	for _, c := range []struct{ at, want string }{
		{"http://H/", "[h:80]"}, {"https://H/", "[h:443 p:80]"}, {"ws://H/", "[h:80]"}, {"wss://H:5/", "[h:5 p:80]"}, {"tcp://H:7", "[h:7]"},
	} {
		a, err := transport.Parse(c.at)
		testkit.OK(t, err)
		testkit.Expect(t, c.at, fmt.Sprint(Hosts(transport.Route{}, a)), c.want)
	}
}

// A proxy that cannot be used is named.
func TestConnectThroughAWrongProxy(t *testing.T) {
	a := transport.Address{Scheme: "tcp", Host: "h:1"}
	c := transport.Config{}.WithDefaults()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.OK(t, err)
	l.Close() // nothing listens there
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.OK(t, err)
	defer silent.Close()
	go func() {
		if conn, err := silent.Accept(); err == nil {
			conn.Close()
		}
	}()
	for proxy, want := range map[string]string{
		"ftp://p":                          "the proxy in the environment: unknown proxy scheme",
		"socks5://" + l.Addr().String():    "the proxy: ",
		"http://" + l.Addr().String():      "the proxy: ",
		"http://" + silent.Addr().String(): "the proxy: ",
	} {
		t.Setenv("ALL_PROXY", proxy)
		t.Setenv("all_proxy", "")
		_, err := Connect(t.Context(), c, a, a.Host)
		if f := transport.DialFault(t.Context(), "tcp://h:1", c.ConnectTimeout, err); !strings.Contains(f.Message, want) {
			t.Errorf("%s: %v", proxy, f)
		}
	}
}
