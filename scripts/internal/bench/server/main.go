// Command server is the peer in the benchmark: WebSocket on a port, and lines on a Unix socket. It writes prepared frames, many at a
// time, to reduce its own share of the measurement.
//
//	server SOCKET
//
// It prints its port, which also accepts POSTs. echo returns its params. ticks [N,SIZE] is a subscription with N items, each a message
// of SIZE bytes, many per write. Only on the socket, each [N,SIZE] writes each item separately, and varied [N,SIZE] has items that
// differ in a number and a string. bursts [N,BURST] is a subscription with N items that contain the time of their write, BURST of them
// every BURST milliseconds. All other methods return true.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	unix, err := net.Listen("unix", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	go lines(unix)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tcp.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(tcp, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve := upgrade
		if r.Header.Get("Upgrade") == "" {
			serve = post
		}
		if err := serve(w, r); err != nil && !errors.Is(err, io.EOF) {
			log.Print(err)
		}
	})))
}

// tick returns one item of exactly size bytes.
func tick(size int) []byte {
	const head = `{"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s1","result":{"number":12345,"price":1.50,"text":"`
	const tail = `"}}}`
	return []byte(head + strings.Repeat("x", max(0, size-len(head)-len(tail))) + tail)
}

// vary puts the number i, and a string that starts with it, into a tick.
func vary(item []byte, i int) {
	copy(item[bytes.Index(item, []byte(`"number":`))+len(`"number":`):], strconv.Itoa(10_000+i%90_000))
	copy(item[bytes.Index(item, []byte(`"text":"`))+len(`"text":"`):], fmt.Sprintf("%016x", uint64(i)*0x9e3779b97f4a7c15))
}

// message is the part of a message that the server needs.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type answer struct {
	response []byte // can be nil
	items    int    // number of items after the response
	item     []byte // each of the items
	apart    bool   // each item is written separately
	varied   bool   // each item has another number and string
	burst    int    // number of items in a burst, and of milliseconds between bursts; 0 means no pauses
}

func answerTo(raw []byte) (a answer, err error) {
	var m message
	if err := json.Unmarshal(raw, &m); err != nil || m.ID == nil {
		return a, err
	}
	result := "true"
	switch m.Method {
	case "echo":
		result = string(m.Params)
	case "bursts":
		var n []int
		if err := json.Unmarshal(m.Params, &n); err != nil || len(n) != 2 || n[1] < 1 {
			return a, fmt.Errorf("bursts wants [N,BURST], not %s", m.Params)
		}
		result, a.items, a.burst = `"s1"`, n[0], n[1]
	case "ticks", "each", "varied":
		var n []int
		if err := json.Unmarshal(m.Params, &n); err != nil || len(n) != 2 {
			return a, fmt.Errorf("%s wants [N,SIZE], not %s", m.Method, m.Params)
		}
		result, a.items, a.item, a.apart, a.varied = `"s1"`, n[0], tick(n[1]), m.Method == "each", m.Method == "varied"
	}
	a.response = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	return a, nil
}

// post responds to a POST.
func post(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	a, err := answerTo(body)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(a.response)
	return err
}

// lines responds on a Unix socket, with one message per line.
func lines(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			in, out := bufio.NewScanner(c), bufio.NewWriterSize(c, 64<<10)
			for in.Scan() {
				a, err := answerTo(in.Bytes())
				if err != nil {
					log.Print(err)
					return
				}
				if _, err := out.Write(append(a.response, '\n')); err != nil {
					return
				}
				item := append(a.item, '\n')
				for i := range a.items {
					if a.varied {
						vary(item, i)
					}
					if _, err := out.Write(item); err != nil {
						return
					}
					if a.apart && out.Flush() != nil {
						return
					}
				}
				if err := out.Flush(); err != nil {
					return
				}
			}
		}()
	}
}

// upgrade completes the handshake of RFC 6455 and then responds to messages.
func upgrade(w http.ResponseWriter, r *http.Request) error {
	key := r.Header.Get("Sec-Websocket-Key")
	c, rw, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return err
	}
	defer c.Close()
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	fmt.Fprintf(rw, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
	if err := rw.Flush(); err != nil {
		return err
	}
	in := bufio.NewReaderSize(rw, 1<<16)
	out := bufio.NewWriterSize(c, 1<<16)
	for {
		code, msg, err := readFrame(in)
		if err != nil || code == 8 {
			_, _ = out.Write(appendFrame(nil, 8, msg))
			return errors.Join(err, out.Flush())
		}
		if code == 9 {
			_, _ = out.Write(appendFrame(nil, 10, msg))
		}
		if code == 1 {
			if err := serve(out, msg); err != nil {
				return err
			}
		}
		if in.Buffered() == 0 || code == 9 {
			if err := out.Flush(); err != nil {
				return nil // the client has all items
			}
		}
	}
}

func serve(out *bufio.Writer, msg []byte) error {
	a, err := answerTo(msg)
	if err != nil || a.response == nil {
		return err
	}
	if _, err := out.Write(appendFrame(nil, 1, a.response)); err != nil {
		return nil
	}
	if a.burst > 0 {
		return bursts(out, a.items, a.burst)
	}
	frame := appendFrame(nil, 1, a.item)
	for range a.items {
		if _, err := out.Write(frame); err != nil {
			return nil
		}
	}
	return nil
}

// bursts writes n items. burst is the number of items in a burst, and of milliseconds between bursts. Each item contains the time
// of its burst, in nanoseconds of the system clock.
func bursts(out *bufio.Writer, n, burst int) error {
	due := time.NewTicker(time.Duration(burst) * time.Millisecond)
	defer due.Stop()
	for sent := 0; sent < n; sent += burst {
		if err := out.Flush(); err != nil {
			return nil
		}
		<-due.C
		item := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s1","result":{"at":%d,"text":"%s"}}}`,
			time.Now().UnixNano(), filling)
		for range min(burst, n-sent) {
			if _, err := out.Write(appendFrame(nil, 1, item)); err != nil {
				return nil
			}
		}
	}
	return nil
}

// filling pads an item of bursts to about 216 bytes.
var filling = strings.Repeat("x", 100)

// appendFrame appends a frame from a server.
func appendFrame(b []byte, code byte, payload []byte) []byte {
	b = append(b, 0x80|code)
	switch n := len(payload); {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	return append(b, payload...)
}

// readFrame reads a frame from a client, which is masked and here never fragmented.
func readFrame(r io.Reader) (code byte, payload []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:2]); err != nil {
		return 0, nil, err
	}
	code = head[0] & 15
	n := uint64(head[1] & 127)
	switch n {
	case 126:
		_, err = io.ReadFull(r, head[:2])
		n = uint64(binary.BigEndian.Uint16(head[:2]))
	case 127:
		_, err = io.ReadFull(r, head[:8])
		n = binary.BigEndian.Uint64(head[:8])
	}
	if err != nil {
		return 0, nil, err
	}
	var mask [4]byte
	if _, err := io.ReadFull(r, mask[:]); err != nil {
		return 0, nil, err
	}
	payload = make([]byte, min(n, 1<<20))
	if _, err := io.ReadFull(r, payload); err != nil {
		return 0, nil, err
	}
	for i := range payload {
		payload[i] ^= mask[i&3]
	}
	return code, payload, nil
}
