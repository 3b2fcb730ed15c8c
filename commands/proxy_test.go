package commands

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// proxy starts a proxy, `proxy connect|socks NAME TO USER:PASSWORD`, written by hand from RFC 9110, section 9.3.6, or RFC 1928 and
// RFC 1929. It forwards each request from that user ("-": any user) to the address TO, or to the one in a file written by
// --listening, sets $NAME to its own host:port, and appends the requested addresses to the file NAME.asked.
func proxy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: proxy connect|socks NAME TO USER:PASSWORD|-")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv(args[1], l.Addr().String())
	to := args[2]
	if m := regexp.MustCompile(`//([^/"]+)`).FindStringSubmatch(readIfThere(ts.MkAbs(to))); m != nil {
		to = m[1]
	}
	p := &scriptProxy{to: to, user: strings.TrimPrefix(args[3], "-"), log: ts.MkAbs(args[1] + ".asked")}
	serve := map[string]func(net.Conn, *bufio.Reader) (string, bool){"connect": p.connect, "socks": p.socks}[args[0]]
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.lead(c, serve)
		}
	}()
}

type scriptProxy struct{ to, user, log string }

// lead handles one client.
func (p *scriptProxy) lead(c net.Conn, serve func(net.Conn, *bufio.Reader) (string, bool)) {
	defer c.Close()
	in := bufio.NewReader(c)
	asked, ok := serve(c, in)
	appendLine(p.log, asked)
	if !ok {
		return
	}
	far, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer far.Close()
	if head, plain := strings.CutPrefix(asked, "plain "); plain {
		io.WriteString(far, head)
	}
	go func() {
		io.Copy(far, in)
		far.(*net.TCPConn).CloseWrite()
	}()
	io.Copy(c, far)
}

// connect reads the head of a request. If the method is not CONNECT, it returns the request to forward.
func (p *scriptProxy) connect(c net.Conn, in *bufio.Reader) (string, bool) {
	req, err := http.ReadRequest(in)
	if err != nil {
		return err.Error(), false
	}
	if p.user != "" && req.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(p.user)) {
		io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
		return req.Method + " " + req.RequestURI + " refused", false
	}
	if req.Method == http.MethodConnect {
		io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
		return "CONNECT " + req.RequestURI, true
	}
	body, _ := io.ReadAll(req.Body)
	appendLine(p.log, req.Method+" "+req.RequestURI)
	return fmt.Sprintf("plain %s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		req.Method, req.URL.RequestURI(), p.to, len(body), body), true
}

// socks reads the SOCKS 5 handshake and request.
func (p *scriptProxy) socks(c net.Conn, in *bufio.Reader) (string, bool) {
	read := func(n int) []byte {
		b := make([]byte, n)
		io.ReadFull(in, b)
		return b
	}
	methods := read(int(read(2)[1]))
	switch {
	case p.user == "":
		c.Write([]byte{5, 0})
	case !strings.ContainsRune(string(methods), 2):
		c.Write([]byte{5, 0xff})
		return "no user", false
	default:
		c.Write([]byte{5, 2})
		user := string(read(int(read(2)[1])))
		password := string(read(int(read(1)[0])))
		if user+":"+password != p.user {
			c.Write([]byte{1, 1})
			return "another user", false
		}
		c.Write([]byte{1, 0})
	}
	request := read(4)
	host := ""
	switch request[3] {
	case 1:
		host = net.IP(read(4)).String()
	case 3:
		host = string(read(int(read(1)[0])))
	case 4:
		host = net.IP(read(16)).String()
	}
	asked := fmt.Sprintf("SOCKS %s %d", host, binary.BigEndian.Uint16(read(2)))
	if strings.HasPrefix(host, "closed") {
		c.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0})
		return asked, false
	}
	c.Write([]byte{5, 0, 0, 1, 127, 0, 0, 1, 0, 0})
	return asked, true
}

func readIfThere(file string) string {
	b, _ := os.ReadFile(file)
	return string(b)
}

func appendLine(file, line string) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	io.WriteString(f, line+"\n")
}
