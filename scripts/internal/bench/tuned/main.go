// Command tuned does rpcx's WebSocket work with the same library in one goroutine. All requests are sent in one write before the next
// read, and one buffer receives the data. It parses no JSON, checks nothing and prints nothing.
//
//	tuned bulk ws://HOST/ N JOBS      N requests, JOBS in flight
//	tuned stream ws://HOST/ N SIZE    one subscription with N messages
//	tuned print ws://HOST/ N BURST    one subscription with N messages in bursts, which it prints
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"

	"github.com/coder/websocket"
)

// buffer is the size of a read or write in bytes.
const buffer = 64 << 10

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		log.Fatal("tuned: ", err)
	}
}

func run(what, url, count, second string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	m, err := strconv.Atoi(second)
	if err != nil {
		return err
	}
	c, err := dial(url)
	if err != nil {
		return err
	}
	defer c.CloseNow()
	switch what {
	case "bulk":
		return bulk(c, n, m)
	case "stream":
		return stream(c, "ticks", n, m, io.Discard)
	case "print":
		return stream(c, "bursts", n, m, os.Stdout)
	}
	return errors.New("bulk, stream or print")
}

// A late is a connection that collects writes and sends them before the next read.
type late struct {
	net.Conn
	out []byte
}

func (l *late) Write(b []byte) (int, error) {
	l.out = append(l.out, b...)
	return len(b), nil
}

func (l *late) Read(b []byte) (int, error) {
	if len(l.out) > 0 {
		if _, err := l.Conn.Write(l.out); err != nil {
			return 0, err
		}
		l.out = l.out[:0]
	}
	return l.Conn.Read(b)
}

func dial(url string) (*websocket.Conn, error) {
	over := &http.Transport{ReadBufferSize: buffer, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		return &upgrading{Conn: c}, err
	}}
	c, _, err := websocket.Dial(context.Background(), url, &websocket.DialOptions{HTTPClient: &http.Client{Transport: over}})
	if err == nil {
		c.SetReadLimit(-1)
	}
	return c, err
}

// An upgrading writes at once until the handshake ends, because another goroutine is reading. After that, it behaves like late.
type upgrading struct {
	net.Conn
	after *late
}

func (u *upgrading) Write(b []byte) (int, error) {
	if u.after == nil {
		u.after = &late{Conn: u.Conn}
		return u.Conn.Write(b)
	}
	return u.after.Write(b)
}

func (u *upgrading) Read(b []byte) (int, error) {
	if u.after == nil {
		return u.Conn.Read(b)
	}
	return u.after.Read(b)
}

// next reads one message into buf and returns its length.
func next(c *websocket.Conn, buf []byte) (int, error) {
	_, r, err := c.Reader(context.Background())
	if err != nil {
		return 0, err
	}
	n := 0
	for {
		m, err := r.Read(buf[n:])
		n += m
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// bulk makes n requests, at most jobs of them concurrently.
func bulk(c *websocket.Conn, n, jobs int) error {
	buf, request := make([]byte, buffer), make([]byte, 0, 128)
	ask := func(id int) error {
		request = append(request[:0], `{"jsonrpc":"2.0","id":`...)
		request = strconv.AppendInt(request, int64(id), 10)
		request = append(request, `,"method":"echo","params":[`...)
		request = strconv.AppendInt(request, int64(id), 10)
		request = append(request, `]}`...)
		return c.Write(context.Background(), websocket.MessageText, request)
	}
	asked := 0
	for ; asked < min(n, jobs); asked++ {
		if err := ask(asked + 1); err != nil {
			return err
		}
	}
	for range n {
		if _, err := next(c, buf); err != nil {
			return err
		}
		if asked < n {
			asked++
			if err := ask(asked); err != nil {
				return err
			}
		}
	}
	return nil
}

// stream subscribes, counts the items, and prints each on a line.
func stream(c *websocket.Conn, method string, n, m int, to io.Writer) error {
	subscribe := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"%s","params":[%d,%d]}`, method, n, m)
	if err := c.Write(context.Background(), websocket.MessageText, []byte(subscribe)); err != nil {
		return err
	}
	buf := make([]byte, buffer)
	for range n + 1 { // the response and the items
		read, err := next(c, buf[:len(buf)-1])
		if err != nil {
			return err
		}
		buf[read] = '\n'
		if _, err := to.Write(buf[:read+1]); err != nil {
			return err
		}
	}
	return nil
}
