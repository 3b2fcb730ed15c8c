package commands

import (
	"bufio"
	"cmp"
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

	"rpcx/wire"
)

// A scriptedPeer reads and writes the bytes in a file, so it cannot share a mistake with rpcx.
// CONTRIBUTING.md, "The scripted peer", describes the language of the file.
type scriptedPeer struct {
	name  string
	mode  string
	in    *bufio.Reader
	out   io.Writer
	conn  net.Conn // nil means stdin and stdout
	lis   net.Listener
	group []string
	named map[string]string
	sent  string // the latest message that "> TEXT" wrote
	cd    string
	older *scriptedPeer // the previous connection, after accept

	mu  sync.Mutex
	all []net.Conn
}

var scriptedPeers sync.Map // TestScript and name to chan error

type peerKey struct {
	ts   *testscript.TestScript
	name string
}

func peerCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: peer listen|dial ADDRESS NAME FILE, peer wait NAME, peer play ADDRESS FILE..., peer run|meet STATUS FILE PROGRAM ARGS...")
	}
	how, name := args[0], args[1]
	switch {
	case how == "run" || how == "meet":
		name = "AT"
		startPeer(ts, "listen", cmp.Or(peerSocket.FindString(strings.Join(args[3:], " ")), "tcp"), name, args[2])
		at := "${1}" + ts.Getenv(name)
		command := wire.Map(args[3:], func(s string) string { return peerAddress.ReplaceAllString(s, at) })
		exitStatusIs(ts, false, append(args[1:2:2], command...))
	case how == "play":
		for _, file := range args[2:] {
			startPeer(ts, "dial", args[1], file, file)
			awaitPeer(ts, file)
		}
	case how != "wait":
		startPeer(ts, how, args[1], args[2], args[3])
	}
	if how == "run" || how == "wait" {
		awaitPeer(ts, name)
	}
}

// peerSocket matches the Unix socket of a peer.
var peerSocket = regexp.MustCompile(`\bunix:[\w.]+`)

// peerAddress matches the word that stands for the address of the peer, but not $AT, which a shell expands.
var peerAddress = regexp.MustCompile(`(^|[^$\w])AT\b`)

// startPeer starts to play a file with the client that connects to where, or with the server there.
func startPeer(ts *testscript.TestScript, how, where, name, path string) {
	p := &scriptedPeer{name: path, mode: "line", cd: ts.MkAbs(".")}
	lines, err := os.ReadFile(ts.MkAbs(path))
	ts.Check(err)
	network, address := "tcp", where
	if path, ok := strings.CutPrefix(where, "unix:"); ok {
		network, address = "unix", ts.MkAbs(path)
	}
	switch how {
	case "listen":
		if network == "tcp" {
			address = "127.0.0.1:0"
		}
		p.lis, err = net.Listen(network, address)
		ts.Check(err)
		ts.Setenv(name, p.lis.Addr().String())
	case "dial":
		switch {
		case network == "unix":
			fileHas(address, "")
		case !strings.Contains(where, ":"):
			if !fileHas(ts.MkAbs(where), "\n") {
				ts.Fatalf("%s has no line", where)
			}
			b := ts.ReadFile(where)
			m := regexp.MustCompile(`//([^/"]+)`).FindStringSubmatch(b)
			if m == nil {
				ts.Fatalf("%s has no address: %s", where, b)
			}
			address = m[1]
		}
		p.conn, err = net.DialTimeout(network, address, patience)
		ts.Check(err)
		p.use(p.conn)
	}
	done := make(chan error, 1)
	scriptedPeers.Store(peerKey{ts, name}, done)
	ts.Defer(p.close)
	go func() { done <- p.run(string(lines)) }()
}

func awaitPeer(ts *testscript.TestScript, name string) {
	done, ok := scriptedPeers.Load(peerKey{ts, name})
	if !ok {
		ts.Fatalf("no peer is named %s", name)
	}
	select {
	case err := <-done.(chan error):
		ts.Check(err)
	case <-time.After(patience):
		ts.Fatalf("the peer %s did not end within %v", name, patience)
	}
}

// peerProgram is the program `scriptedpeer FILE`, which commands in scripts start.
func peerProgram() {
	lines, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = (&scriptedPeer{name: os.Args[1], mode: "line", in: bufio.NewReader(os.Stdin), out: os.Stdout, cd: "."}).run(string(lines))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scriptedpeer:", err)
		os.Exit(99)
	}
}

func (p *scriptedPeer) close() {
	if p.lis != nil {
		p.lis.Close()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.all {
		c.Close()
	}
}

func (p *scriptedPeer) use(c net.Conn) {
	c.SetDeadline(time.Now().Add(2 * patience))
	p.conn, p.in, p.out = c, bufio.NewReaderSize(c, 64<<10), c
	p.mu.Lock()
	p.all = append(p.all, c)
	p.mu.Unlock()
}

func (p *scriptedPeer) accept() error {
	c, err := p.lis.Accept()
	if err != nil {
		return err
	}
	if p.conn != nil {
		p.older = &scriptedPeer{conn: p.conn, in: p.in, out: p.out}
	}
	p.use(c)
	return nil
}

func (p *scriptedPeer) run(text string) error {
	defer p.close()
	if p.lis != nil {
		if err := p.accept(); err != nil {
			return err
		}
	}
	return p.play(p.name, text)
}

// play plays the lines of the file name.
func (p *scriptedPeer) play(name, text string) error {
	for n, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if err := p.step(word, rest); err != nil {
			return fmt.Errorf("%s:%d: %s: %w", name, n+1, line, err)
		}
	}
	return nil
}

func (p *scriptedPeer) step(word, rest string) error {
	switch word[0] {
	case '<':
		return p.expect(word[1:], rest)
	case '>':
		text := p.expand(rest)
		if word == ">" {
			p.sent = text
		}
		return p.write(word[1:], text)
	}
	switch word {
	case "include":
		text, err := os.ReadFile(filepath.Join(p.cd, rest))
		if err != nil {
			return err
		}
		return p.play(rest, string(text))
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
		older := p.older
		p.older = &scriptedPeer{conn: p.conn, in: p.in, out: p.out}
		p.conn, p.in, p.out = older.conn, older.in, older.out
	case "exit":
		n, err := strconv.Atoi(rest)
		if err == nil {
			os.Exit(n)
		}
		return err
	case "hang":
		if p.conn == nil {
			for {
				time.Sleep(time.Hour)
			}
		}
		io.Copy(io.Discard, p.in)
	default:
		return errors.New("no such step")
	}
	return nil
}

// flood writes msg until the peer stops reading, and returns the rest of the message that was cut.
func (p *scriptedPeer) flood(msg []byte) ([]byte, error) {
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

func (p *scriptedPeer) until(file string) error {
	if !fileHas(file, "") {
		return errors.New("it did not come")
	}
	return nil
}
