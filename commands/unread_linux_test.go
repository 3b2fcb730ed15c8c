package commands

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"rpcx/wire/testkit"
)

// Clients that send many requests and read nothing cost a server less than 600 MB in total, on each transport. The 40 clients
// request 200 responses of 1 MB each.
func TestUnreadAnswersAreBounded(t *testing.T) {
	testkit.SampleSkips(t)
	t.Parallel()
	for _, c := range []struct {
		transport                    string
		clients, answers, size, most int
	}{
		{"http", 40, 200, 1_000_000, 600_000_000},
		{"ws", 40, 200, 1_000_000, 600_000_000},
		{"tcp", 40, 200, 1_000_000, 600_000_000},
		{"unix", 40, 200, 1_000_000, 600_000_000},
		{"http", 300, 1, 4_000_000, 600_000_000},
		{"tcp", 300, 1, 4_000_000, 600_000_000},
	} {
		t.Run(fmt.Sprintf("%s, %d clients", c.transport, c.clients), func(t *testing.T) {
			listen := c.transport + "://127.0.0.1:0"
			if c.transport == "unix" {
				listen = "unix:" + filepath.Join(t.TempDir(), "s")
			}
			address, peak := serveBig(t, listen, c.size)
			for range c.clients {
				sendUnread(t, c.transport, address, c.answers)
			}
			since, last := time.Now(), peak()
			for time.Since(since) < 3*time.Second { // until memory stops growing
				time.Sleep(50 * time.Millisecond)
				if now := peak(); now > last+1<<20 {
					since, last = time.Now(), now
				}
			}
			if last < 100<<20 || last > int64(c.most) {
				t.Errorf("the server used %d MB", last/1_000_000)
			}
		})
	}
}

// serveBig starts a server whose method big returns size bytes. peak returns the server's peak memory.
func serveBig(t *testing.T, listen string, size int) (address string, peak func() int64) {
	at, process, failure := serving(t, listen, "--on", fmt.Sprintf(`big=jq:"x" * %d`, size))
	if failure != "" {
		t.Fatal(failure)
	}
	address = regexp.MustCompile(`[^/:]*:[0-9]+|/.*s$`).FindString(at)
	return address, func() int64 {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process.Pid))
		testkit.OK(t, err)
		m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(b)
		n, _ := strconv.ParseInt(string(m[1]), 10, 64)
		return n << 10
	}
}

// sendUnread connects and requests the given number of responses: in one batch over HTTP, otherwise in separate messages.
func sendUnread(t *testing.T, transport, address string, answers int) {
	network := "tcp"
	if transport == "unix" {
		network = "unix"
	}
	c, err := net.Dial(network, address)
	testkit.OK(t, err)
	t.Cleanup(func() { c.Close() })
	var all []string
	for i := range answers {
		all = append(all, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"big"}`, i))
	}
	switch transport {
	case "http":
		body := strings.Join(all, ",")
		if answers > 1 {
			body = "[" + body + "]"
		}
		fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", address, len(body), body)
	case "ws":
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n",
			address, base64.StdEncoding.EncodeToString(make([]byte, 16)))
		in := bufio.NewReaderSize(c, 16)
		for line := ""; line != "\r\n"; {
			if line, err = in.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		for _, msg := range all { // the masking key is zero
			_, _ = c.Write(append([]byte{0x81, byte(0x80 | len(msg)), 0, 0, 0, 0}, msg...))
		}
	default:
		for _, msg := range all {
			_, _ = io.WriteString(c, msg+"\n")
		}
	}
}
