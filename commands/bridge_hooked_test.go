package commands

import (
	"bufio"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// TestBridgeOfOneDialectWithHooks plays testdata/bridged/DIALECT.txt through a bridge of that dialect with a hook. Only the ids of
// messages without a hook change. The lines of a file are:
//
//	c> TEXT, s> TEXT   the client or the server sends TEXT
//	s< TEXT, c< TEXT   the server or the client receives TEXT, in which … matches anything
//	s, c               the server accepts a connection of the bridge; the client connects
//
// @NAME stands for the latest value, usually an id, that was received in its place.
func TestBridgeOfOneDialectWithHooks(t *testing.T) {
	testkit.SessionFolders(t)
	files, err := filepath.Glob("testdata/bridged/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, file := range files {
		dialect := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			testkit.OK(t, err)
			p := &hookedPlay{t: t, dialect: dialect, dir: t.TempDir(), bound: map[string]string{}}
			if p.listener, err = net.Listen("unix", filepath.Join(p.dir, "peer")); err != nil {
				t.Fatal(err)
			}
			defer p.listener.Close()
			p.started = make(chan [2]string, 1)
			go func() {
				at, _, failure := serving(t, dialect+"+line+unix:"+filepath.Join(p.dir, "bridge"), "--to", dialect+"+line+unix:"+filepath.Join(p.dir, "peer"), "--on", "mine=json:1")
				p.started <- [2]string{at, failure}
			}()
			for line := range strings.Lines(string(text)) {
				if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
					p.step(line)
				}
			}
			if p.client != nil {
				p.end()
			}
		})
	}
}

// A hookedPlay is a conversation through a bridge with a hook.
type hookedPlay struct {
	t        *testing.T
	dialect  string
	dir      string
	listener net.Listener
	started  chan [2]string // the bridge's address, or why it exited
	server   net.Conn
	lines    *bufio.Reader
	client   wire.Conn
	end      func()
	bound    map[string]string
}

var boundName = regexp.MustCompile(`@[a-z]+`)

func (p *hookedPlay) step(line string) {
	p.t.Helper()
	verb, text, _ := strings.Cut(line, " ")
	var err error
	switch verb {
	case "s":
		if p.server != nil {
			_ = p.server.Close()
		}
		_ = p.listener.(*net.UnixListener).SetDeadline(time.Now().Add(30 * time.Second))
		if p.server, err = p.listener.Accept(); err == nil {
			_ = p.server.SetDeadline(time.Now().Add(30 * time.Second))
			p.lines = bufio.NewReader(p.server)
			p.t.Cleanup(func() { _ = p.server.Close() })
		}
	case "c":
		at := <-p.started
		if at[1] != "" {
			p.t.Fatal(at[1])
		}
		p.client, p.end = dialled(p.t, at[0])
	case "c>":
		err = p.client.Send([]byte(p.filled(text)))
	case "s>":
		_, err = p.server.Write([]byte(p.filled(text) + "\n"))
	case "s<":
		var got string
		if got, err = p.lines.ReadString('\n'); err == nil {
			p.compare(line, strings.TrimSuffix(got, "\n"), text)
		}
	case "c<":
		var got []byte
		if got, err = p.client.Recv(); err == nil {
			p.compare(line, string(got), text)
		}
	default:
		p.t.Fatalf("unknown step: %s", line)
	}
	if err != nil {
		select {
		case at := <-p.started:
			p.t.Log(at)
		default:
		}
		p.t.Fatalf("%s: %v", line, err)
	}
}

// filled replaces names in text by their values.
func (p *hookedPlay) filled(text string) string {
	return boundName.ReplaceAllStringFunc(text, func(name string) string { return p.bound[name] })
}

// compare compares a received message with the expected one, and binds the names in the expected one.
func (p *hookedPlay) compare(line, got, want string) {
	p.t.Helper()
	pattern, names := "^", boundName.FindAllString(want, -1)
	for i, part := range boundName.Split(want, -1) {
		if i > 0 {
			pattern += `("[^"]*"|[^,}\]]+)`
		}
		pattern += strings.ReplaceAll(regexp.QuoteMeta(part), "…", ".*")
	}
	m := regexp.MustCompile(pattern + "$").FindStringSubmatch(got)
	if m == nil {
		p.t.Fatalf("%s\n got %s", line, got)
	}
	for i, name := range names {
		p.bound[name] = m[i+1]
	}
}
