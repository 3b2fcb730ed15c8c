package commands

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/scan"
	"rpcx/wire/session"
	"rpcx/wire/testkit"
)

// A spokenMessage is a message of a conversation in wire/dialect/all/testdata/spoken.
type spokenMessage struct {
	byClient bool
	text     string
}

// conversations returns the messages of all conversations, by the prefix of their endpoints, with a character in place of each
// wildcard. It writes the conversations' dialect files to dir.
func conversations(t *testing.T, dir string) map[string][][]spokenMessage {
	t.Helper()
	files, err := filepath.Glob("../wire/dialect/all/testdata/spoken/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	spoken := map[string][][]spokenMessage{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		testkit.OK(t, err)
		for i, part := range strings.Split("\n"+string(text), "\n== ")[1:] {
			role, page := "", ""
			var messages []spokenMessage
			dialect := ""
			for line := range strings.Lines(part) {
				verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				switch {
				case page != "" && verb == "end" && rest == "":
					dialect = filepath.Join(dir, filepath.Base(file)+string(rune('a'+i/26))+string(rune('a'+i%26))+".toml")
					testkit.OK(t, os.WriteFile(dialect, []byte(page), 0o600))
					page = ""
				case page != "":
					page += line
				case role == "" && (verb == "client" || verb == "server"):
					if role, dialect = verb, rest; rest == "page" {
						page = "name = 'x'\n"
					}
				case verb == "<" || verb == ">" || verb == ">&":
					if text := strings.ReplaceAll(strings.TrimSpace(rest), "…", "x"); text != "" && strings.Contains("{[", text[:1]) {
						messages = append(messages, spokenMessage{(verb == "<") == (role == "server"), text})
					}
				}
			}
			if messages != nil && dialect != "" {
				spoken[dialect] = append(spoken[dialect], messages)
			}
		}
	}
	return spoken
}

// TestBridgeOfOneDialectPassesAllUnchanged plays the handwritten conversations of all dialects between a client and a server
// through `rpcx serve D+… --to D+…`. Each message must arrive byte for byte, in both directions, except that POSTs can get another
// id.
func TestBridgeOfOneDialectPassesAllUnchanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spoken := conversations(t, dir)
	spoken["acp"] = [][]spokenMessage{{
		{true, `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"text":"a\u00e9","type":"text"}],"x":1.0}}`},
		{false, `{"jsonrpc":"2.0","method":"session/update","params":{"update":{"z":1e2,"sessionUpdate":"plan"},"sessionId":"s"}}`},
		{false, `{"jsonrpc":"2.0","id":0,"method":"fs/read_text_file","params":{"path":"/a","sessionId":"s"}}`},
		{true, `{"id":0,"jsonrpc":"2.0","result":{"content":"b"},"more":[1.50]}`},
		{false, `{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn","z":1.0}}`},
	}}
	spoken["bidi"] = [][]spokenMessage{{
		{true, `{"id":12345678901234567890,"method":"session.subscribe","params":{"events":["log.entryAdded"]},"x":1.0}`},
		{false, `{"type":"success","id":12345678901234567890,"result":{"z":1.0}}`},
		{false, `{"type":"event","method":"log.entryAdded","params":{"z":1e2,"a":[]},"more":1}`},
		{true, `{"method":"no","params":{},"id":2}`},
		{false, `{"type":"error","id":2,"error":"unknown command","message":"no","stacktrace":"s"}`},
	}}
	for _, name := range all.Names() {
		// The conversations of jsonrpc include jsonrpc1.
		if spoken[name] == nil && name != "jsonrpc1" {
			t.Errorf("no conversation of %s", name)
		}
	}
	for n, dialect := range slices.Sorted(maps.Keys(spoken)) {
		if filepath.IsAbs(dialect) && !testkit.Sampled(n) { // a dialect file
			continue
		}
		all := spoken[dialect]
		t.Run(filepath.Base(dialect), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			peer := filepath.Join(dir, "peer")
			l, err := net.Listen("unix", peer)
			testkit.OK(t, err)
			t.Cleanup(func() { _ = l.Close() })
			for _, listen := range []string{"unix:" + filepath.Join(dir, "bridge"), "ws://127.0.0.1:0/", "http://127.0.0.1:0/"} {
				if (dialect == "cdp" || dialect == "a2a") && strings.HasPrefix(listen, "http") {
					continue // over HTTP, a cdp server lists its targets, and an a2a server has a card
				}
				if dialect == "mcp" {
					go servesAllVersions(l)
				}
				at, _, failure := serving(t, dialect+"+"+listen, "--to", dialect+"+line+unix:"+peer)
				if strings.Contains(failure, "would count as results") {
					t.Skip(failure) // rpcx refuses this dialect file
				}
				if failure != "" {
					t.Fatal(failure)
				}
				if strings.HasPrefix(listen, "http") {
					posted(t, at, l, slices.Concat(all...))
					continue
				}
				for _, messages := range all {
					passed(t, at, l, messages)
				}
			}
		})
	}
}

// servesAllVersions answers the separate connection on which a bridge of mcp detects the peer's versions.
func servesAllVersions(l net.Listener) {
	c, err := l.Accept()
	if err != nil {
		return
	}
	defer c.Close()
	for in := bufio.NewScanner(c); in.Scan(); {
		var o scan.Object
		o.Text("jsonrpc", "2.0")
		o.Add("id", scan.Get(in.Bytes(), "id"))
		o.Add("result", []byte(`{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{},"ttlMs":0,"cacheScope":"public"}`))
		if _, err := c.Write(append(o.End(), '\n')); err != nil {
			return
		}
	}
}

// serving runs `rpcx serve` with args until the end of the test, and returns the process and its address, or its stderr if it exits.
func serving(t *testing.T, args ...string) (at string, process *os.Process, failure string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "listening")
	cmd := exec.Command("rpcx", slices.Concat([]string{"serve", "--listening", file}, args)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return "", nil, err.Error()
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	for tick := time.Tick(5 * time.Millisecond); ; {
		if line, _ := os.ReadFile(file); bytes.HasSuffix(line, []byte("\n")) {
			return scan.String(scan.Get(line, "listening")), cmd.Process, ""
		}
		select {
		case <-ended:
			return "", nil, stderr.String()
		case <-tick:
		}
	}
}

// dialled connects to a bridge. The connection passes messages on unchanged.
func dialled(t *testing.T, at string) (wire.Conn, func()) {
	t.Helper()
	e, err := session.ParseEndpoint(at, "")
	testkit.OK(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	conn, end, err := session.DialMessages(ctx, e, session.Options{})
	if err != nil {
		t.Fatal(at, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return conn, func() { stop(); _ = conn.Close(); end(); cancel() }
}

func passed(t *testing.T, at string, l net.Listener, messages []spokenMessage) {
	t.Helper()
	client, end := dialled(t, at)
	defer end()
	server, err := l.Accept()
	testkit.OK(t, err)
	defer server.Close()
	_ = server.SetDeadline(time.Now().Add(30 * time.Second))
	read := bufio.NewReader(server)
	for _, m := range messages {
		var got string
		if m.byClient {
			testkit.OK(t, client.Send([]byte(m.text)))
			got, err = read.ReadString('\n')
		} else {
			if _, err := server.Write([]byte(m.text + "\n")); err != nil {
				t.Fatal(err)
			}
			var b []byte
			b, err = client.Recv()
			got = string(b)
		}
		if err != nil || strings.TrimSuffix(got, "\n") != m.text {
			t.Errorf("%s\n got %s (%v)\nwant %s", at, got, err, m.text)
			return
		}
	}
}

// unanswered matches messages with an id to which no response is expected, and MCP's initialize, which opens an HTTP session with a
// connection of its own.
var unanswered = regexp.MustCompile(`"type":"cancel"|"(result|error)":|"method":"initialize"`)

// posted sends each request of the client in a POST and checks the response.
func posted(t *testing.T, at string, l net.Listener, messages []spokenMessage) {
	t.Helper()
	var server net.Conn
	var read *bufio.Reader
	for i, m := range messages {
		id := scan.Get([]byte(m.text), "id")
		if !m.byClient || id == nil || !json.Valid([]byte(m.text)) || unanswered.MatchString(m.text) {
			continue
		}
		j := slices.IndexFunc(messages[i+1:], func(r spokenMessage) bool { // the response with this id
			return scan.Get([]byte(r.text), "method") == nil && string(scan.Get([]byte(r.text), "id")) == string(id) && json.Valid([]byte(r.text))
		})
		if j < 0 || messages[i+1+j].byClient {
			continue
		}
		response := messages[i+1+j].text
		client, end := dialled(t, at)
		sent := make(chan error, 1)
		go func() { sent <- client.Send([]byte(m.text)) }() // Send returns after the response
		if server == nil {
			var err error
			if server, err = l.Accept(); err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			read = bufio.NewReader(server)
		}
		_ = server.SetDeadline(time.Now().Add(30 * time.Second))
		got, err := read.ReadString('\n')
		was, is := `"id":`+string(id), `"id":`+string(scan.Get([]byte(got), "id"))
		if want := strings.Replace(m.text, was, is, 1); err != nil || strings.TrimSuffix(got, "\n") != want {
			t.Errorf("%s\n got %s (%v)\nwant %s", at, got, err, want)
			return
		}
		if _, err := server.Write([]byte(strings.Replace(response, was, is, 1) + "\n")); err != nil {
			t.Fatal(err)
		}
		if b, err := client.Recv(); err != nil || string(b) != response {
			t.Errorf("%s\n got %s (%v)\nwant %s", at, b, err, response)
			return
		}
		if err := <-sent; err != nil {
			t.Error(err)
		}
		end()
	}
}
