// Command raw measures only the network. It does the work of rpcx with frames written by hand and without a library. It parses no
// JSON, checks nothing and prints nothing.
//
//	raw call ws://HOST/ | unix:PATH | http://HOST/    one request, one response
//	raw bulk ws://HOST/ N JOBS                         N requests, JOBS in flight
//	raw stream ws://HOST/ N SIZE                       one subscription with N messages
//	raw copy unix:PATH [FILE]                          stdin to the socket, and the socket to stdout; both also to FILE
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
)

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		log.Fatal("raw: ", err)
	}
}

func run(what, to string, rest []string) error {
	if what == "copy" {
		return copyBytes(strings.TrimPrefix(to, "unix:"), rest)
	}
	numbers := []int{1, 1}
	for i, word := range rest {
		n, err := strconv.Atoi(word)
		if err != nil {
			return err
		}
		numbers[i] = n
	}
	path, unix := strings.CutPrefix(to, "unix:")
	host, http := strings.CutPrefix(to, "http://")
	switch {
	case what == "stream":
		return stream(to, numbers[0], numbers[1])
	case what == "bulk":
		return bulk(to, numbers[0], numbers[1])
	case what == "call" && unix:
		return callUnix(path)
	case what == "call" && http:
		return callHTTP(strings.TrimSuffix(host, "/"))
	case what == "call":
		return bulk(to, 1, 1)
	}
	return errors.New("call, bulk, stream or copy")
}

// callUnix sends one line and reads one.
func callUnix(path string) error {
	c, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := io.WriteString(c, request(1)+"\n"); err != nil {
		return err
	}
	_, err = bufio.NewReader(c).ReadSlice('\n')
	return err
}

// callHTTP sends one POST and reads its response.
func callHTTP(host string) error {
	c, err := net.Dial("tcp", host)
	if err != nil {
		return err
	}
	defer c.Close()
	body := request(1)
	_, err = fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", host, len(body), body)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, c)
	return err
}

// copyBytes copies as a program does that needs to see the bytes, although the system could move them directly.
func copyBytes(path string, file []string) error {
	c, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	defer c.Close()
	to, from := io.Writer(c), io.Writer(os.Stdout)
	if len(file) > 0 {
		f, err := os.Create(file[0])
		if err != nil {
			return err
		}
		defer f.Close()
		to, from = io.MultiWriter(c, f), io.MultiWriter(os.Stdout, f)
	}
	up := make(chan error, 1)
	go func() {
		_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{os.Stdin}, make([]byte, 64<<10))
		up <- errors.Join(err, c.(*net.UnixConn).CloseWrite())
	}()
	_, err = io.CopyBuffer(struct{ io.Writer }{from}, struct{ io.Reader }{c}, make([]byte, 64<<10))
	return errors.Join(err, <-up)
}

func request(id int) string { return string(appendRequest(nil, id)) }

func appendRequest(b []byte, id int) []byte {
	b = strconv.AppendInt(append(b, `{"jsonrpc":"2.0","id":`...), int64(id), 10)
	b = strconv.AppendInt(append(b, `,"method":"echo","params":[`...), int64(id), 10)
	return append(b, `]}`...)
}

// A wire is a WebSocket with only the features that the benchmark's server needs.
type wire struct {
	net.Conn
	in       []byte
	from, to int // the unread part of in
	out      []byte
}

// dial performs the handshake of RFC 6455 without checking the response.
func dial(url string) (*wire, error) {
	host := strings.TrimSuffix(strings.TrimPrefix(url, "ws://"), "/")
	c, err := net.Dial("tcp", host)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: c, in: make([]byte, 1<<16)}
	_, err = io.WriteString(c, "GET / HTTP/1.1\r\nHost: "+host+"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	for err == nil {
		if end := bytes.Index(w.in[:w.to], []byte("\r\n\r\n")); end >= 0 {
			w.from = end + 4
			return w, nil
		}
		err = w.more()
	}
	return nil, err
}

// more reads the available bytes.
func (w *wire) more() error {
	w.to = copy(w.in, w.in[w.from:w.to])
	w.from = 0
	n, err := w.Read(w.in[w.to:])
	w.to += n
	return err
}

// ask adds a request to the next write. The masking key is zero, so masking does not change the bytes.
func (w *wire) ask(message []byte) {
	w.out = append(w.out, 0x81)
	if len(message) < 126 {
		w.out = append(w.out, 0x80|byte(len(message)))
	} else {
		w.out = binary.BigEndian.AppendUint16(append(w.out, 0x80|126), uint16(len(message)))
	}
	w.out = append(append(w.out, 0, 0, 0, 0), message...)
}

// flush writes the added requests.
func (w *wire) flush() error {
	if len(w.out) == 0 {
		return nil
	}
	_, err := w.Write(w.out)
	w.out = w.out[:0]
	return err
}

// frame returns one received frame, or false if it is incomplete.
func (w *wire) frame() bool {
	b := w.in[w.from:w.to]
	if len(b) < 2 {
		return false
	}
	head, n := 2, int(b[1]&127)
	switch n {
	case 126:
		if head = 4; len(b) < head {
			return false
		}
		n = int(binary.BigEndian.Uint16(b[2:]))
	case 127:
		if head = 10; len(b) < head {
			return false
		}
		n = int(binary.BigEndian.Uint64(b[2:]))
	}
	if len(b) < head+n {
		return false
	}
	w.from += head + n
	return true
}

// bulk makes n requests, at most jobs of them concurrently.
func bulk(url string, n, jobs int) error {
	w, err := dial(url)
	if err != nil {
		return err
	}
	defer w.Close()
	asked, message := 0, make([]byte, 0, 128)
	for ; asked < min(n, jobs); asked++ {
		message = appendRequest(message[:0], asked+1)
		w.ask(message)
	}
	for got := 0; got < n; got++ {
		for !w.frame() {
			if err := w.flush(); err != nil {
				return err
			}
			if err := w.more(); err != nil {
				return err
			}
		}
		if asked < n {
			asked++
			message = appendRequest(message[:0], asked)
			w.ask(message)
		}
	}
	return nil
}

// stream subscribes and counts the items.
func stream(url string, n, size int) error {
	w, err := dial(url)
	if err != nil {
		return err
	}
	defer w.Close()
	w.ask(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"ticks","params":[%d,%d]}`, n, size))
	if err := w.flush(); err != nil {
		return err
	}
	for range n + 1 { // the response and the items
		for !w.frame() {
			if err := w.more(); err != nil {
				return err
			}
		}
	}
	return nil
}
