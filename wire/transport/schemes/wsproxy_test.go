package schemes

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"rpcx/wire/transport"
)

func TestThroughProxy(t *testing.T) {
	noLeaks(t)
	ca := newAuthority(t)
	cert, key := ca.issue(time.Now().Add(time.Hour))
	for _, tt := range []struct{ scheme, user, asked, answer string }{
		{"ws", "u:p@", "CONNECT far.example:", `{"id":1,"result":2} <nil>`},
		{"wss", "u:p@", "CONNECT far.example:", `{"id":1,"result":2} <nil>`},
		{"http", "u:p@", "POST localhost", `{"id":1,"result":2} <nil>`},
		{"https", "u:p@", "CONNECT far.example:", `{"id":1,"result":2} <nil>`},
		{"ws", "", "CONNECT far.example:", " the proxy 127.0.0.1:PORT refused: 407 Proxy Authentication Required"},
		{"wss", "", "CONNECT far.example:", " the proxy 127.0.0.1:PORT refused: 407 Proxy Authentication Required"},
	} {
		t.Run(tt.scheme+" "+tt.user, func(t *testing.T) {
			l := listening(t, tt.scheme+"://127.0.0.1:0/", transport.Config{TLS: transport.TLS{Cert: cert, Key: key}})
			echo(t, l)
			host := mustParse(t, l.Endpoint()).Host
			asked := make(chan string, 4)
			proxy := testProxy(t, host, asked)
			for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
				t.Setenv(name, "http://"+tt.user+proxy)
			}
			t.Setenv("NO_PROXY", "")
			t.Setenv("no_proxy", "")
			msg, err := roundTrip(t, strings.Replace(l.Endpoint(), "127.0.0.1", "far.example", 1), transport.Config{
				TLS: transport.TLS{CACert: ca.File}, Header: http.Header{"Host": {"localhost"}},
			})
			if got, want := fmt.Sprint(msg, " ", err), strings.Replace(tt.answer, "127.0.0.1:PORT", proxy, 1); got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if got := <-asked; !strings.HasPrefix(got, tt.asked) {
				t.Errorf("the proxy was asked for %q", got)
			}
		})
	}
}

// testProxy forwards all requests of user u with password p to one address.
func testProxy(t *testing.T, to string, asked chan<- string) string {
	return rawServer(t, func(c net.Conn, r *bufio.Reader, req *http.Request) {
		asked <- req.Method + " " + req.Host
		if req.Header.Get("Proxy-Authorization") != "Basic dTpw" {
			io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
			return
		}
		far, err := net.Dial("tcp", to)
		if err != nil {
			t.Error(err)
			return
		}
		defer far.Close()
		if req.Method == http.MethodConnect {
			io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
		} else {
			req.Header.Del("Proxy-Authorization")
			req.Write(far)
		}
		go func() {
			io.Copy(far, r)
			far.(*net.TCPConn).CloseWrite()
		}()
		io.Copy(c, far)
	})
}
