// Command raw does over WebSocket what rpcx does, with nothing but the same
// library: no JSON is read, nothing is checked, nothing is printed.
//
//	raw call ws://HOST/           one request, one answer
//	raw call unix:PATH            the same, a line each
//	raw bulk ws://HOST/ N JOBS    N requests, JOBS in flight
//	raw stream ws://HOST/ N       one subscription of N messages
//	raw copy unix:PATH [FILE]     stdin there, and what comes to stdout; both to FILE, too
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/coder/websocket"
)

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1:]); err != nil {
		log.Fatal("raw: ", err)
	}
}

func run(args []string) error {
	if args[0] == "copy" {
		return copyBytes(strings.TrimPrefix(args[1], "unix:"), args[2:])
	}
	n, jobs := 1, 1
	for i, to := range []*int{&n, &jobs} {
		if len(args) > i+2 {
			v, err := strconv.Atoi(args[i+2])
			if err != nil {
				return err
			}
			*to = v
		}
	}
	switch args[0] {
	case "call":
		if path, ok := strings.CutPrefix(args[1], "unix:"); ok {
			return callUnix(path)
		}
		return bulk(args[1], 1, 1)
	case "bulk":
		return bulk(args[1], n, jobs)
	case "stream":
		return stream(args[1], n)
	}
	return errors.New("call, bulk, stream or copy")
}

// callUnix is one line there and one back.
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

// copyBytes copies as a program does that looks at the bytes: what the system
// could move by itself is read and written.
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

func request(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"echo","params":[%d]}`, id, id)
}

func dial(url string) (*websocket.Conn, error) {
	c, _, err := websocket.Dial(context.Background(), url, nil)
	if err == nil {
		c.SetReadLimit(-1)
	}
	return c, err
}

// next reads one message into buf and returns how much it is.
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

// bulk keeps jobs requests in flight: one goroutine writes, this one reads.
func bulk(url string, n, jobs int) error {
	c, err := dial(url)
	if err != nil {
		return err
	}
	defer c.CloseNow()
	free := make(chan struct{}, jobs)
	wrote := make(chan error, 1)
	go func() {
		for id := 1; id <= n; id++ {
			free <- struct{}{}
			if err := c.Write(context.Background(), websocket.MessageText, []byte(request(id))); err != nil {
				wrote <- err
				return
			}
		}
		wrote <- nil
	}()
	buf := make([]byte, 1<<16)
	for range n {
		if _, err := next(c, buf); err != nil {
			return err
		}
		<-free
	}
	return <-wrote
}

// stream subscribes and counts.
func stream(url string, n int) error {
	c, err := dial(url)
	if err != nil {
		return err
	}
	defer c.CloseNow()
	subscribe := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"ticks","params":[%d]}`, n)
	if err := c.Write(context.Background(), websocket.MessageText, []byte(subscribe)); err != nil {
		return err
	}
	buf := make([]byte, 1<<16)
	for range n + 1 { // the answer, and the items
		if _, err := next(c, buf); err != nil {
			return err
		}
	}
	return nil
}
