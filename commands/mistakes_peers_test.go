package commands

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rpcx/wire/framing"
	"rpcx/wire/testkit"
)

// mistakenPeers starts the peers of TestMistakes, and returns the addresses by the names used in the table. To dir, it adds socket
// (the Unix socket of LINE) and ca.pem (the authority of the peers with TLS).
func mistakenPeers(t *testing.T, dir string) map[string]string {
	peers := map[string]string{"DIR": dir}
	for name, answer := range map[string]http.HandlerFunc{
		"HTTP":    postPeer,
		"NOTPOST": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) },
		"WSONLY": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "Upgrade Required", http.StatusUpgradeRequired)
		},
		"HTML":     func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<!doctype html><p>hello") },
		"NOTFOUND": http.NotFound,
		"MOVED":    http.RedirectHandler("/rpc", http.StatusFound).ServeHTTP,
		"BASIC":    unauthorized(`Basic realm="x"`),
		"BEARER":   unauthorized(`Bearer realm="x"`),
		"DIGEST":   unauthorized(`Digest realm="x"`),
	} {
		s := httptest.NewServer(answer)
		t.Cleanup(s.Close)
		peers[name] = s.Listener.Addr().String()
	}
	https := httptest.NewUnstartedServer(http.HandlerFunc(postPeer))
	https.Config.ErrorLog = log.New(io.Discard, "", 0) // the default logger writes to the stderr of the tested command
	https.StartTLS()
	t.Cleanup(https.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: https.Certificate().Raw})
	testkit.OK(t, os.WriteFile(filepath.Join(dir, "ca.pem"), ca, 0o600))
	peers["HTTPS"] = https.Listener.Addr().String()
	for _, name := range framing.Names() {
		peers[strings.ToUpper(name)] = testkit.Listen(t, "tcp", "127.0.0.1:0", func(c net.Conn) { framedPeer(c, name) })
	}
	testkit.Listen(t, "unix", filepath.Join(dir, "socket"), func(c net.Conn) { framedPeer(c, "line") })
	secure := func(c net.Conn) net.Conn { return tls.Server(c, &tls.Config{Certificates: https.TLS.Certificates}) }
	for name, serve := range map[string]func(net.Conn){
		"TLS":    func(c net.Conn) { framedPeer(secure(c), "line") },
		"SILENT": func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
		"CLOSES": func(net.Conn) {},
		"BANNER": func(c net.Conn) {
			_, _ = io.WriteString(c, "220 mail.example ESMTP\r\n")
			_, _ = io.Copy(io.Discard, c)
		},
		"NODETLS": func(c net.Conn) { // closes the connection without an alert if the first byte is not TLS
			r := bufio.NewReader(c)
			if b, err := r.Peek(1); err == nil && b[0] == 22 {
				framedPeer(secure(bufferedConn{c, r}), "line")
			}
		},
		"NETRPC": func(c net.Conn) {
			for m := range messages(c, "line") {
				writeMessage(c, "line", fmt.Sprintf(`{"id":%s,"result":null,"error":"rpc: can't find service %s"}`, m.ID, m.Method))
			}
		},
		"SPELT": func(c net.Conn) { // returns the id as another type, or as the same number in another form
			for m := range messages(c, "line") {
				id := map[string]string{"asText": `"` + string(m.ID) + `"`, "asFloat": string(m.ID) + ".0"}[m.Method]
				writeMessage(c, "line", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":"answered"}`, id))
			}
		},
	} {
		peers[name] = testkit.Listen(t, "tcp", "127.0.0.1:0", serve)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.OK(t, err)
	peers["REFUSED"] = l.Addr().String()
	_ = l.Close()
	for name, listen := range map[string]string{"WS": "ws://127.0.0.1:0/", "MCP": "mcp+http://127.0.0.1:0/"} {
		at, _, failure := serving(t, listen, "--hooks", filepath.Join(dir, "catalog.json"))
		if failure != "" {
			t.Fatal(failure)
		}
		_, address, _ := strings.Cut(at, "://")
		peers[name] = strings.TrimSuffix(address, "/")
	}
	return peers
}

// A bufferedConn is a connection with some bytes already in the buffer r.
type bufferedConn struct {
	net.Conn
	r *bufio.Reader
}

func (c bufferedConn) Read(b []byte) (int, error) { return c.r.Read(b) }

func unauthorized(challenge string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			postPeer(w, r)
			return
		}
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(http.StatusUnauthorized)
	}
}

type peerRequest struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

// respond returns the response: echo returns its params, and needsInteger rejects params without an integer.
func (r *peerRequest) respond() string {
	outcome := `"error":{"code":-32601,"message":"Method not found"}`
	switch r.Method {
	case "echo":
		outcome = `"result":` + string(r.Params)
		if r.Params == nil {
			outcome = `"result":"echo"`
		}
	case "needsInteger":
		outcome = `"error":{"code":-32602,"message":"limit must be an integer"}`
		if strings.Contains(string(r.Params), `:1`) {
			outcome = `"result":true`
		}
	case "needsArray":
		outcome = `"error":{"code":-32602,"message":"non-array args"}`
	case "evaluate":
		outcome = `"error":{"code":-32602,"message":"the parameter expression is missing"}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, r.ID, outcome)
}

func postPeer(w http.ResponseWriter, r *http.Request) {
	var m peerRequest
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, m.respond())
}

func framedPeer(c net.Conn, framed string) {
	for m := range messages(c, framed) {
		writeMessage(c, framed, m.respond())
	}
}

// messages yields the requests that arrive in a framing, until one is invalid.
func messages(c net.Conn, framed string) func(yield func(*peerRequest) bool) {
	p := &scriptedPeer{mode: framed, in: bufio.NewReader(c), out: c}
	return func(yield func(*peerRequest) bool) {
		for {
			text, err := p.message()
			if err != nil {
				return
			}
			if framed != "line" { // the framing precedes the message
				text = text[max(0, bytes.IndexByte(text, '{')):]
			}
			var m peerRequest
			if json.NewDecoder(bytes.NewReader(text)).Decode(&m) != nil {
				_, _ = io.Copy(io.Discard, p.in)
				return
			}
			if !yield(&m) {
				return
			}
		}
	}
}

func writeMessage(c net.Conn, framed, text string) {
	_ = (&scriptedPeer{mode: framed, out: c}).write("", text)
}
