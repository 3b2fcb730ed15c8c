package commands

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A cell is what goes wrong on a connection, typed by hand, and the status that every
// command ends with. In say, "…" ends what is said before the request has been read, so
// that "" says nothing; what stands behind it is said after. An HTTP answer that is whole
// says that its connection ends, so that the next request is not lost with it.
var cells = []struct {
	scheme, fault string
	status        int
	say           string
	end           func(c net.Conn) // how it ends; nil: by a close
}{
	{"tcp", "it goes", 7, "…", nil},
	{"tcp", "it ends its direction", 7, "…", halfClose},
	{"tcp", "it cuts a message off", 7, `…{"jsonrpc":"2.0","id":1,"resu`, nil},
	{"tcp", "it resets", 7, "…", reset},
	{"tcp", "a message that is too large", 5, `…{"jsonrpc":"2.0","id":1,"result":"` + large + "\"}\n", linger},
	{"tcp", "no JSON", 5, "…hello\n", linger},
	{"tcp", "a broken answer", 5, "…{\"jsonrpc\":\"2.0\",\"id\":1,\"resu\n", linger},
	{"header+tcp", "it cuts a message off", 7, "…Content-Length: 50\r\n\r\n{", nil},
	{"header+tcp", "a message that is too large", 5, "…Content-Length: 5000\r\n\r\n{", linger},

	{"tls", "it goes in the handshake", 3, "", nil},
	{"https", "it goes in the handshake", 3, "", nil},
	{"wss", "it goes in the handshake", 3, "", nil},

	{"http", "it goes", 7, "…", nil},
	{"http", "it resets", 7, "…", reset},
	{"http", "it cuts the head off", 7, "…HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", nil},
	{"http", "it cuts the body off", 7, "…HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{\"jsonrpc\":", nil},
	{"http", "it cuts an event stream off", 7, "…HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 500\r\n\r\ndata: {\"jsonrpc\":", nil},
	{"http", "an event stream without the answer", 5, "…HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n: nothing\n\n", nil},
	{"http", "no body", 5, "…HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n", nil},
	{"http", "a page", 5, "…HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>", nil},
	{"http", "a body that is too large", 5, "…HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4036\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"" + large + "\"}", nil},
	{"http", "401", 6, "…HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 4\r\n\r\nwho?", nil},
	{"http", "403", 6, "…HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", nil},
	{"http", "404", 3, "…HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", nil},
	{"http", "500", 1, "…HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\nContent-Length: 4\r\n\r\noops", nil},
	{"http", "500 whose body does not end", 1, "…HTTP/1.1 500 Internal Server Error\r\nContent-Length: 500\r\n\r\noops", linger},
	{"http", "503", 3, "…HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbusy", nil},
	{"http", "a redirect", 3, "…HTTP/1.1 302 Found\r\nLocation: http://elsewhere.example/\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", nil},
	{"http", "no HTTP", 5, "…220 smtp ready\r\n", nil},

	{"ws", "it goes in the handshake", 3, "", nil},
	{"ws", "401", 6, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", nil},
	{"ws", "500", 3, "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n", nil},
	{"ws", "no upgrade", 3, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", nil},
	{"ws", "it goes", 7, "upgrade…", nil},
	{"ws", "it resets", 7, "upgrade…", reset},
	{"ws", "it cuts a frame off", 7, "upgrade…\x81\x50{", nil},
	{"ws", "it says goodbye", 7, "upgrade…\x88\x02\x03\xe8", nil},
	{"ws", "it closes with 1011", 7, "upgrade…\x88\x02\x03\xf3", nil},
	{"ws", "a masked frame", 5, "upgrade…\x81\x82\x00\x00\x00\x00{}", linger},
	{"ws", "a frame that is too large", 5, "upgrade…\x81\x7e\x10\x00" + large, linger},
	{"ws", "a broken answer", 5, "upgrade…\x81\x0e{\"id\":1,\"resul", linger},
}

var large = strings.Repeat("x", 4000)

func halfClose(c net.Conn) { _ = c.(*net.TCPConn).CloseWrite(); linger(c) }
func reset(c net.Conn)     { _ = c.(*net.TCPConn).SetLinger(0) }
func linger(c net.Conn)    { _, _ = io.Copy(io.Discard, c) }

// TestCells: whatever goes wrong, on whatever transport, every command that waits for an
// answer ends with the status of that, and says so on one line at least.
func TestCells(t *testing.T) {
	t.Parallel()
	for _, c := range cells {
		t.Run(c.scheme+" "+c.fault, func(t *testing.T) {
			t.Parallel()
			for _, w := range []struct{ words, stdin string }{
				{"call E m", ""},
				{"call E --batch", `{"method":"m"}`},
				{"subscribe E m", ""},
				{"connect E", `{"id":1,"method":"m"}`},
				{"describe E", ""},
				{"call introspect+E a.b", ""},
				{"describe introspect+E", ""},
				{"job run ro+E a:b", ""},
			} {
				if strings.Contains(w.words, "+E") && (strings.Contains(c.scheme, "+") || c.status == 1 || c.status == 5) {
					continue // discovery may do without its answer
				}
				at := failing(t, c.scheme, c.say, c.end)
				words := strings.ReplaceAll(w.words, "E", c.scheme+"://"+at+"/")
				if !strings.Contains(c.scheme, "ttp") && !strings.Contains(c.scheme, "ws") {
					words = strings.ReplaceAll(words, at+"/", at)
				}
				cmd := exec.Command("rpcx", append(strings.Fields(words), "--max-message", "1k", "--timeout", patience.String())...)
				var out, said bytes.Buffer
				cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(w.stdin), &out, &said
				err := cmd.Run()
				var exit *exec.ExitError
				if err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				if got := cmd.ProcessState.ExitCode(); got != c.status || said.Len() == 0 {
					t.Errorf("rpcx %s: status %d, not %d\n%s%s", w.words, got, c.status, out.Bytes(), said.Bytes())
				}
				if out.Len() > 0 && !strings.Contains(w.words, "--batch") {
					t.Errorf("rpcx %s prints %s", w.words, out.Bytes())
				}
			}
		})
	}
}

// TestCellsOfSessions: the same of a session, whose connection fails when it is opened
// or when a command uses it; its process goes when it is told to.
func TestCellsOfSessions(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("sessions are on Unix sockets")
	}
	for i, c := range cells {
		t.Run(c.scheme+" "+c.fault, func(t *testing.T) {
			t.Parallel()
			run := shortDir(t)
			rpcx := func(words ...string) (int, string, string) {
				cmd := exec.Command("rpcx", words...)
				var out, said bytes.Buffer
				cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+run)
				cmd.Stdout, cmd.Stderr = &out, &said
				err := cmd.Run()
				var exit *exec.ExitError
				if err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				return cmd.ProcessState.ExitCode(), out.String(), said.String()
			}
			path := "/"
			if !strings.Contains(c.scheme, "ttp") && !strings.Contains(c.scheme, "ws") {
				path = ""
			}
			name := fmt.Sprint("s", i)
			at := c.scheme + "://" + failing(t, c.scheme, c.say, c.end) + path
			status, out, said := rpcx("connect", at, "--session", name, "--max-message", "1k", "--timeout", patience.String())
			if status == 0 {
				status, out, said = rpcx("call", "@"+name, "m", "--timeout", patience.String())
			}
			if status != c.status || said == "" || out != "" {
				t.Errorf("status %d, not %d; %s%s", status, c.status, out, said)
			}
			_, _, _ = rpcx("session", "close", name) // which may be gone
			if left, err := os.ReadDir(filepath.Join(run, "rpcx")); err == nil && len(left) > 0 {
				t.Errorf("%s is left", left[0])
			}
		})
	}
}

// shortDir returns a folder of a test whose name is short enough for sockets.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "c")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// failing listens for connections that say what stands before "…", read a request, say
// the rest, and end. It returns where.
func failing(t *testing.T, scheme, say string, end func(net.Conn)) string {
	t.Helper()
	return listening(t, func(c net.Conn) {
		c.SetDeadline(time.Now().Add(patience))
		fail(c, scheme, say)
		if end != nil {
			end(c)
		}
	})
}

// listening has each connection to a port of its own handled by serve, closes it then, and returns where.
func listening(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return l.Addr().String()
}

func fail(c net.Conn, scheme, say string) {
	first, then, asked := strings.Cut(say, "…")
	if scheme == "ws" && first == "upgrade" {
		acceptUpgrade(c)
	} else if scheme == "ws" && first != "" {
		_, _ = http.ReadRequest(bufio.NewReader(c))
		_, _ = io.WriteString(c, first)
	}
	if !asked {
		return
	}
	if scheme == "http" {
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
	} else if _, err := c.Read(make([]byte, 64<<10)); err != nil {
		return
	}
	_, _ = io.WriteString(c, then)
}

// acceptUpgrade reads a WebSocket handshake and accepts it (RFC 6455, section 4.2.2).
func acceptUpgrade(c net.Conn) {
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	chosen, _, _ := strings.Cut(r.Header.Get("Sec-WebSocket-Protocol"), ",")
	if chosen != "" {
		chosen = "Sec-WebSocket-Protocol: " + chosen + "\r\n"
	}
	fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n%s\r\n",
		base64.StdEncoding.EncodeToString(sum[:]), chosen)
}
