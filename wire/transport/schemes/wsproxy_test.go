package schemes

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"rpcx/wire/transport"
)

// net/http reads the proxy settings once per process, so each client is a process of its own: this test binary with the variable proxyTest.
const proxyTest = "RPCX_TEST_PROXY_TO"

func TestThroughProxy(t *testing.T) {
	if to := os.Getenv(proxyTest); to != "" {
		msg, err := roundTrip(t, to, transport.Config{
			TLS: transport.TLS{CACert: os.Getenv("RPCX_TEST_CA")}, Header: http.Header{"Host": {"localhost"}},
		})
		fmt.Printf("answer: %s %v\n", msg, err)
		return
	}
	noLeaks(t)
	ca := newAuthority(t)
	cert, key := ca.issue(time.Now().Add(time.Hour))
	for _, tt := range []struct{ scheme, user, asked, answer string }{
		{"ws", "u:p@", "CONNECT far.example:", `{"id":1,"result":2} <nil>`},
		{"wss", "u:p@", "CONNECT far.example:", `{"id":1,"result":2} <nil>`},
		{"http", "u:p@", "POST localhost", `{"id":1,"result":2} <nil>`},
		{"https", "u:p@", "CONNECT far.example:", `{"id":1,"result":2} <nil>`},
		{"ws", "", "CONNECT far.example:", "the proxy 127.0.0.1:PORT refused: 407 Proxy Authentication Required"},
		{"wss", "", "CONNECT far.example:", "the proxy 127.0.0.1:PORT refused: 407 Proxy Authentication Required"},
	} {
		t.Run(tt.scheme+" "+tt.user, func(t *testing.T) {
			l := mustListen(t, tt.scheme+"://127.0.0.1:0/", transport.Config{TLS: transport.TLS{Cert: cert, Key: key}})
			echo(t, l)
			host := mustParse(t, l.Endpoint()).Host
			asked := make(chan string, 4)
			proxy := testProxy(t, host, asked)
			cmd := exec.Command(os.Args[0], "-test.run=^TestThroughProxy$")
			at := "http://" + tt.user + proxy
			cmd.Env = append(os.Environ(), "RPCX_TEST_CA="+ca.File, "HTTP_PROXY="+at, "HTTPS_PROXY="+at, "NO_PROXY=",
				"http_proxy="+at, "https_proxy="+at, "no_proxy=",
				proxyTest+"="+strings.Replace(l.Endpoint(), "127.0.0.1", "far.example", 1))
			out, err := cmd.CombinedOutput()
			want := "answer: " + tt.answer
			if tt.user == "" {
				want = "answer:  " + strings.Replace(tt.answer, "127.0.0.1:PORT", proxy, 1)
			}
			if err != nil || !strings.Contains(string(out), want+"\n") {
				t.Errorf("%s%v, want %q", out, err, want)
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
