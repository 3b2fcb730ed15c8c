package commands

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// A far side typed by hand: what it reads and writes stands in a file, byte for
// byte, so that it shares no mistake with rpcx. In scripts:
//
//	far listen tcp NAME FILE     listens, sets $NAME to host:port, plays FILE
//	far listen unix:PATH NAME FILE
//	far dial ADDRESS NAME FILE   connects (host:port, unix:PATH, or a file with
//	                             the line that serve printed), plays FILE
//	far wait NAME                demands that the play came to its end
//
// and `play FILE` is a program that plays FILE on its stdin and stdout. A play:
//
//	< REGEX      reads a message and demands that it matches; $1 … are its groups
//	<by REGEX    likewise; what group 2 is, in @{…}, is then group 1
//	<size N      reads a message and demands that it has N bytes at least
//	<eof         demands that nothing more comes
//	<http REGEX  reads an HTTP head with its body
//	<ws OPCODE REGEX  reads a WebSocket frame of that kind (of a close: code and reason)
//	> TEXT       writes a message; x{N} is N times x
//	>file FILE   writes the message that is in FILE
//	>> "TEXT"    writes these bytes as they are (a Go string); LENGTH is that of
//	             what follows the blank line
//	>frame OPCODE "TEXT"   writes a WebSocket frame of that kind
//	repeat N TEXT          writes a message N times
//	answer N               reads N requests and answers each with its params
//	flood TEXT             writes a message until it gets no further: the far side
//	                       has stopped reading, before 64 MiB; then "stalled" is
//	                       made, and the message that was cut is written to its end
//	choke TEXT             likewise, but leaves it cut
//	mode line|lsp|nul|seq|ws|wsclient    what a message is from here on
//	upgrade [HEADER]   reads a WebSocket handshake and accepts it; @{host} is the host
//	             that it was for
//	stderr TEXT  writes a line to stderr (of the program)
//	touch FILE; until FILE    makes a file; waits for one
//	shut, hangup, reset       ends our direction, both, or both at once
//	accept, back takes the next connection, goes back to the one before
//	exit N       ends the program
//	hang         does nothing until the far side goes or the test ends
type play struct {
	name  string
	mode  string
	in    *bufio.Reader
	out   io.Writer
	conn  net.Conn // nil: stdin and stdout
	lis   net.Listener
	group []string
	named map[string]string
	cd    string
	older *play // before the last accept

	mu  sync.Mutex
	all []net.Conn
}

var plays sync.Map // of *testscript.TestScript and a name: chan error

type playKey struct {
	ts   *testscript.TestScript
	name string
}

func far(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: far listen|dial ADDRESS NAME FILE, far wait NAME")
	}
	if args[0] == "wait" {
		farWait(ts, args[1])
		return
	}
	where, name, file := args[1], args[2], ts.MkAbs(args[3])
	p := &play{name: args[3], mode: "line", cd: ts.MkAbs(".")}
	lines, err := os.ReadFile(file)
	ts.Check(err)
	network, address := "tcp", where
	if path, ok := strings.CutPrefix(where, "unix:"); ok {
		network, address = "unix", ts.MkAbs(path)
	}
	switch args[0] {
	case "listen":
		if network == "tcp" {
			address = "127.0.0.1:0"
		}
		p.lis, err = net.Listen(network, address)
		ts.Check(err)
		ts.Setenv(name, p.lis.Addr().String())
	case "dial":
		if b, rerr := os.ReadFile(ts.MkAbs(where)); network == "tcp" && rerr == nil {
			m := regexp.MustCompile(`//([^/"]+)`).FindSubmatch(b)
			if m == nil {
				ts.Fatalf("%s holds no address: %s", where, b)
			}
			address = string(m[1])
		}
		p.conn, err = net.DialTimeout(network, address, patience)
		ts.Check(err)
		p.use(p.conn)
	}
	done := make(chan error, 1)
	plays.Store(playKey{ts, name}, done)
	ts.Defer(p.close)
	go func() { done <- p.run(string(lines)) }()
}

func farWait(ts *testscript.TestScript, name string) {
	done, ok := plays.Load(playKey{ts, name})
	if !ok {
		ts.Fatalf("no far side is named %s", name)
	}
	select {
	case err := <-done.(chan error):
		ts.Check(err)
	case <-time.After(patience):
		ts.Fatalf("the far side %s did not come to its end within %v", name, patience)
	}
}

// farProgram is `play FILE`, a child.
func farProgram() {
	lines, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = (&play{name: os.Args[1], mode: "line", in: bufio.NewReader(os.Stdin), out: os.Stdout, cd: "."}).run(string(lines))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "play:", err)
		os.Exit(99)
	}
}

func (p *play) close() {
	if p.lis != nil {
		p.lis.Close()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.all {
		c.Close()
	}
}

func (p *play) use(c net.Conn) {
	c.SetDeadline(time.Now().Add(2 * patience))
	p.conn, p.in, p.out = c, bufio.NewReaderSize(c, 64<<10), c
	p.mu.Lock()
	p.all = append(p.all, c)
	p.mu.Unlock()
}

func (p *play) accept() error {
	c, err := p.lis.Accept()
	if err != nil {
		return err
	}
	if p.conn != nil {
		p.older = &play{conn: p.conn, in: p.in, out: p.out}
	}
	p.use(c)
	return nil
}

func (p *play) run(text string) error {
	if p.lis != nil {
		if err := p.accept(); err != nil {
			return err
		}
	}
	for n, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if err := p.step(word, rest); err != nil {
			p.close()
			return fmt.Errorf("%s:%d: %s: %w", p.name, n+1, line, err)
		}
	}
	p.close()
	return nil
}

func (p *play) step(word, rest string) error {
	switch word[0] {
	case '<':
		return p.expect(word[1:], rest)
	case '>':
		return p.write(word[1:], p.expand(rest))
	}
	switch word {
	case "repeat":
		times, text, _ := strings.Cut(rest, " ")
		n, _ := strconv.Atoi(times)
		text = p.expand(text)
		for range n {
			if err := p.write("", text); err != nil {
				return err
			}
		}
	case "answer":
		n, _ := strconv.Atoi(rest)
		for range n {
			if err := p.expect("", `"id":([0-9]+),"method":"[^"]*","params":(.*)}`); err != nil {
				return err
			}
			if err := p.write("", p.expand(`{"jsonrpc":"2.0","id":$1,"result":$2}`)); err != nil {
				return err
			}
		}
	case "flood":
		left, err := p.flood([]byte(p.expand(rest) + "\n"))
		if err != nil {
			return err
		}
		return p.raw(left)
	case "choke":
		_, err := p.flood([]byte(p.expand(rest) + "\n"))
		return err
	case "mode":
		p.mode = rest
	case "upgrade":
		return p.upgrade(rest)
	case "stderr":
		_, err := fmt.Fprintln(os.Stderr, rest)
		return err
	case "touch":
		return os.WriteFile(filepath.Join(p.cd, rest), nil, 0o600)
	case "until":
		return p.until(filepath.Join(p.cd, rest))
	case "shut":
		if p.conn == nil {
			return os.Stdout.Close()
		}
		return p.conn.(interface{ CloseWrite() error }).CloseWrite()
	case "hangup":
		return p.conn.Close()
	case "reset":
		p.conn.(*net.TCPConn).SetLinger(0)
		return p.conn.Close()
	case "accept":
		return p.accept()
	case "back":
		p.conn, p.in, p.out = p.older.conn, p.older.in, p.older.out
	case "exit":
		n, err := strconv.Atoi(rest)
		if err == nil {
			os.Exit(n)
		}
		return err
	case "hang":
		if p.conn == nil {
			select {}
		}
		io.Copy(io.Discard, p.in)
	default:
		return errors.New("no such step")
	}
	return nil
}

// flood returns what is left of a message when the far side reads no more.
func (p *play) flood(msg []byte) ([]byte, error) {
	for all := 0; all < 64<<20; {
		p.conn.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
		n, err := p.conn.Write(msg)
		all += n
		if err == nil {
			continue
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, err
		}
		p.conn.SetWriteDeadline(time.Now().Add(patience))
		return msg[n:], os.WriteFile(filepath.Join(p.cd, "stalled"), nil, 0o600)
	}
	return nil, errors.New("all of it was taken")
}

func (p *play) until(file string) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
	}
	return errors.New("it did not come")
}

// expand puts in the groups of what was read last, and x{N}.
func (p *play) expand(text string) string {
	for i := len(p.group) - 1; i > 0; i-- {
		text = strings.ReplaceAll(text, "$"+strconv.Itoa(i), p.group[i])
	}
	for name, v := range p.named {
		text = strings.ReplaceAll(text, "@{"+name+"}", v)
	}
	return regexp.MustCompile(`x\{(\d+)\}`).ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.Atoi(s[2 : len(s)-1])
		return strings.Repeat("x", n)
	})
}

func (p *play) expect(what, rest string) error {
	if what == "eof" {
		b, err := io.ReadAll(p.in)
		if err == nil && len(b) > 0 {
			err = fmt.Errorf("%.300q came", b)
		}
		return err
	}
	if what == "ws" {
		op, pattern, _ := strings.Cut(rest, " ")
		kind, b, err := p.frame()
		if kind == 8 && len(b) > 1 {
			b = append(strconv.AppendUint(nil, uint64(binary.BigEndian.Uint16(b)), 10), b[2:]...)
		}
		if err == nil && op != strconv.FormatInt(int64(kind), 16) {
			return fmt.Errorf("a frame of kind %x came: %.300q", kind, b)
		}
		return p.match(pattern, b, err)
	}
	var b []byte
	var err error
	if what == "http" {
		b, err = p.http()
	} else {
		b, err = p.message()
	}
	if what == "size" {
		if want, _ := strconv.Atoi(rest); err == nil && len(b) < want {
			err = fmt.Errorf("%d bytes came", len(b))
		}
		return err
	}
	if err = p.match(rest, b, err); err == nil && what == "by" {
		p.keep(p.group[2], p.group[1])
	}
	return err
}

// keep has @{name} stand for value.
func (p *play) keep(name, value string) {
	if p.named == nil {
		p.named = map[string]string{}
	}
	p.named[name] = value
}

func (p *play) match(pattern string, b []byte, err error) error {
	if err != nil {
		return fmt.Errorf("%w after %.300q", err, b)
	}
	m := regexp.MustCompile(`(?s)` + pattern).FindSubmatch(b)
	if m == nil {
		return fmt.Errorf("%.600q came", b)
	}
	p.group = nil
	for _, g := range m {
		p.group = append(p.group, string(g))
	}
	return nil
}

func (p *play) message() ([]byte, error) {
	switch p.mode {
	case "line":
		return p.in.ReadBytes('\n')
	case "nul":
		return p.in.ReadBytes(0)
	case "seq":
		b, err := p.in.ReadBytes('\n')
		if err == nil && b[0] != 0x1e {
			err = errors.New("no record separator")
		}
		return b, err
	case "lsp":
		return p.http()
	}
	kind, b, err := p.frame()
	if err == nil && kind != 1 {
		err = fmt.Errorf("a frame of kind %x", kind)
	}
	return b, err
}

// http reads lines up to a blank one, and as many bytes as Content-Length says.
func (p *play) http() ([]byte, error) {
	var all []byte
	length := 0
	for {
		line, err := p.in.ReadBytes('\n')
		all = append(all, line...)
		if err != nil {
			return all, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			break
		}
		if v, ok := strings.CutPrefix(strings.ToLower(string(line)), "content-length:"); ok {
			if length, err = strconv.Atoi(strings.TrimSpace(v)); err != nil {
				return all, err
			}
		}
	}
	body := make([]byte, length)
	_, err := io.ReadFull(p.in, body)
	return append(all, body...), err
}

func (p *play) upgrade(header string) error {
	head, err := p.http()
	if err != nil {
		return err
	}
	m := regexp.MustCompile(`(?i)\r\nSec-WebSocket-Key: (\S+)\r\n`).FindSubmatch(head)
	if m == nil {
		return fmt.Errorf("no handshake: %.600q", head)
	}
	sum := sha1.Sum(append(m[1], "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"...))
	if header != "" {
		header += "\r\n"
	}
	p.mode = "ws"
	if host := regexp.MustCompile(`(?i)\r\nHost: (\S+)\r\n`).FindSubmatch(head); host != nil {
		p.keep("host", string(host[1]))
	}
	return p.raw([]byte("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: " +
		base64.StdEncoding.EncodeToString(sum[:]) + "\r\n" + header + "\r\n"))
}

func (p *play) raw(b []byte) error {
	_, err := p.out.Write(b)
	return err
}

func (p *play) write(what, text string) error {
	switch what {
	case ">":
		s, err := strconv.Unquote(text)
		if err != nil {
			return err
		}
		_, body, _ := strings.Cut(s, "\r\n\r\n")
		return p.raw([]byte(strings.Replace(s, "LENGTH", strconv.Itoa(len(body)), 1)))
	case "file":
		b, err := os.ReadFile(filepath.Join(p.cd, text))
		if err != nil {
			return err
		}
		return p.write("", strings.TrimSpace(string(b)))
	case "frame":
		op, quoted, _ := strings.Cut(text, " ")
		kind, err := strconv.ParseUint(op, 16, 8)
		if err != nil {
			return err
		}
		s, err := strconv.Unquote(quoted)
		if err != nil {
			return err
		}
		return p.send(byte(kind), []byte(s))
	}
	switch p.mode {
	case "nul":
		return p.raw([]byte(text + "\x00"))
	case "seq":
		return p.raw([]byte("\x1e" + text + "\n"))
	case "lsp":
		return p.raw([]byte("Content-Length: " + strconv.Itoa(len(text)) + "\r\n\r\n" + text))
	case "ws", "wsclient":
		return p.send(1, []byte(text))
	}
	return p.raw([]byte(text + "\n"))
}

// send writes a whole frame; a client's are masked.
func (p *play) send(kind byte, b []byte) error {
	head := []byte{0x80 | kind, 0}
	switch n := len(b); {
	case n < 126:
		head[1] = byte(n)
	case n < 1<<16:
		head[1] = 126
		head = binary.BigEndian.AppendUint16(head, uint16(n))
	default:
		head[1] = 127
		head = binary.BigEndian.AppendUint64(head, uint64(n))
	}
	if p.mode == "wsclient" {
		head[1] |= 0x80
		head = append(head, 0, 0, 0, 0) // a mask that changes nothing
	}
	return p.raw(append(head, b...))
}

// frame reads a message of one frame, or of several.
func (p *play) frame() (kind byte, msg []byte, err error) {
	for fin := false; !fin; {
		var head [2]byte
		if _, err = io.ReadFull(p.in, head[:]); err != nil {
			return
		}
		fin = head[0]&0x80 != 0
		if head[0]&15 != 0 {
			kind = head[0] & 15
		}
		size := uint64(head[1] & 127)
		var long [8]byte
		switch size {
		case 126:
			_, err = io.ReadFull(p.in, long[:2])
			size = uint64(binary.BigEndian.Uint16(long[:2]))
		case 127:
			_, err = io.ReadFull(p.in, long[:])
			size = binary.BigEndian.Uint64(long[:])
		}
		var mask [4]byte
		if masked := head[1]&0x80 != 0; err == nil && masked {
			if p.mode == "wsclient" {
				return kind, msg, errors.New("a server's frame is masked")
			}
			_, err = io.ReadFull(p.in, mask[:])
		} else if p.mode == "ws" && !masked {
			return kind, msg, errors.New("a client's frame is not masked")
		}
		part := make([]byte, size)
		if err == nil {
			_, err = io.ReadFull(p.in, part)
		}
		if err != nil {
			return
		}
		for i := range part {
			part[i] ^= mask[i%4]
		}
		msg = append(msg, part...)
	}
	return kind, msg, nil
}
