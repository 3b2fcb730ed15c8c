package all_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/hook"
	"rpcx/wire/peer"
	"rpcx/wire/serve"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

var update = flag.Bool("update", false, "write what is said into testdata/spoken, to be read before it is believed")

// TestSpoken plays testdata/spoken/*.txt: conversations whose peer is written by hand from the dialect's specification. "== TITLE"
// begins a conversation. Its first line is the role of rpcx:
//
//	client|server DIALECT   a dialect file named x may follow, from "page" to "end"
//	codec ROLE DIALECT      only the codec, without a connection
//	hook SPEC, deny|allow PATTERN, catalog JSON, offers JSON, metadata JSON, resume ID, depth N
//	own METHOD         the call in the handshake that the user can make
//
// Each further line is a step:
//
//	< TEXT             the peer sends TEXT
//	> TEXT             the peer receives TEXT, in which … matches anything
//	>& TEXT            the peer receives TEXT before or after other messages
//	greet N            the handshake; like all operations except call, sub, raw, watch and internal, it runs in the background
//	call|sub|raw|watch|internal|eval N METHOD PARAMS
//	run|start|status|wait|stop|list N METHOD|JOB PARAMS   an operation on a job
//	op N JSON          any operation, by the names of its members
//	notify METHOD PARAMS
//	describe N, typing N METHOD
//	cancel N           cancels N, in the background
//	await N            starts reading the next event of N, which = N then compares
//	= N TEXT           the next event of N, "end", or the error
//	take NAME REGEXP   NAME stands for that group of the latest compared text from here on
//	mask REGEXP        matching text is compared as *
//	note TEXT          the next note
//	hangup, close      the peer closes; rpcx closes
//	over TEXT          the connection has ended with this error
//	decode TEXT        of a codec: the decoded messages follow as lines ": TEXT"
//	encode JSON        of a codec: the message for an operation follows as lines ": TEXT"
//	reply TEXT JSON    of a codec: the reply to that message with that event
func TestSpoken(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	files, err := filepath.Glob("testdata/spoken/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations:", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		testkit.OK(t, err)
		parts := strings.Split("\n"+string(text), "\n== ")
		for i, part := range parts[1:] {
			title, steps, _ := strings.Cut(part, "\n")
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+title, func(t *testing.T) {
				s := &spoken{t: t, lines: strings.Split(steps, "\n"), ops: map[string]*opened{}, came: make(chan string, 1000), notes: make(chan string, 1000), taken: map[string]string{}}
				s.play()
				parts[i+1] = title + "\n" + strings.Join(s.lines, "\n")
			})
		}
		if *update {
			testkit.OK(t, os.WriteFile(file, []byte(strings.Join(parts, "\n== ")[1:]), 0o600))
		}
	}
}

type spoken struct {
	t     *testing.T
	lines []string
	at    int // the number of the next line

	spec    dialect.Spec
	serving bool
	hooks   []hook.Entry
	serve   serve.Options
	codec   dialect.CodecOptions
	mine    dialect.Codec
	p       *peer.Peer
	far     wire.Conn
	came    chan string // received by the peer
	notes   chan string
	ops     map[string]*opened

	last  string            // the latest compared message
	early []string          // messages that arrived before the one that ">&" waits for
	taken map[string]string // names of parts of messages
	masks []*regexp.Regexp
}

// patience is far longer than any step takes.
const patience = 30 * time.Second

func (s *spoken) play() {
	for s.at < len(s.lines) {
		line := strings.TrimSpace(s.lines[s.at])
		s.at++
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		verb, rest, _ := strings.Cut(line, " ")
		at := s.at
		if err := s.step(verb, strings.TrimSpace(rest)); err != nil {
			s.t.Errorf("line %d, %s\n%v", at, line, err)
			if !*update {
				break
			}
		}
	}
	if s.p == nil {
		return
	}
	if err := s.far.Close(); err != nil {
		s.t.Error(err)
	}
	if err := s.p.Close(); err != nil && !*update {
		s.t.Log("closing: ", err)
	}
	for more := range s.came {
		s.t.Errorf("unexpected message: %s", more)
	}
}

// want compares got with want, the text in the file, or with -update replaces that text.
func (s *spoken) want(at int, prefix, got, want string) error {
	s.last = got
	got = s.masked(got)
	if like(got, want) {
		return nil
	}
	if *update && !strings.Contains(want, "…") {
		s.lines[at] = strings.TrimSpace(prefix + got)
		return nil
	}
	return fmt.Errorf("got  %s\nwant %s", got, want)
}

// masked returns text with taken and masked parts replaced.
func (s *spoken) masked(text string) string {
	for name, value := range s.taken {
		text = strings.ReplaceAll(text, value, name)
	}
	for _, mask := range s.masks {
		text = mask.ReplaceAllString(text, "*")
	}
	return text
}

// like reports whether text matches pattern, in which … matches anything.
func like(text, pattern string) bool {
	parts := strings.Split(pattern, "…")
	if len(parts) == 1 {
		return text == pattern
	}
	text, ok := strings.CutPrefix(text, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return ok && strings.HasSuffix(text, parts[len(parts)-1])
}

// step runs a step of a conversation, or a setting that precedes the steps.
func (s *spoken) step(verb, rest string) error {
	switch verb {
	case "client", "server", "codec":
		if verb == "codec" {
			verb, rest, _ = strings.Cut(rest, " ")
		}
		s.serving = verb == "server"
		return s.speak(rest)
	case "hook":
		e, err := hook.Parse(rest)
		s.hooks = append(s.hooks, e)
		return err
	case "deny":
		s.serve.Deny = append(s.serve.Deny, rest)
	case "allow":
		s.serve.Allow = append(s.serve.Allow, rest)
	case "catalog":
		c, err := catalog.Parse([]byte(rest))
		s.serve.Catalog, s.serve.Check, s.serve.Discoverable = c, true, true
		return err
	case "offers":
		c, err := catalog.Parse([]byte(rest))
		s.codec.Handshake.Offers = c
		return err
	case "set":
		s.codec.Handshake.Settings = json.RawMessage(rest)
	case "resume":
		s.codec.Handshake.Resume = rest
	case "own":
		s.codec.Handshake.Own = func(context.Context) string { return rest }
	case "depth":
		_, err := fmt.Sscan(rest, &s.codec.MaxDepth)
		return err
	case "decode", "encode", "reply":
		return s.alone(verb, rest)
	default:
		if s.p == nil {
			if err := s.connect(); err != nil {
				return err
			}
		}
		return s.take(verb, rest)
	}
	return nil
}

// speak selects the dialect, after which a dialect file may follow.
func (s *spoken) speak(name string) error {
	spec, err := all.Lookup(name)
	if name == "page" {
		text := []string{"name = 'x'"}
		for ; s.lines[s.at] != "end"; s.at++ {
			text = append(text, s.lines[s.at])
		}
		s.at++
		var p *load.Page
		if p, err = load.Parse("own.toml", []byte(strings.Join(text, "\n"))); err == nil {
			spec, err = all.Pages().Spec(p)
		}
	}
	s.spec = spec
	s.codec.Serving = s.serving
	s.codec.Handshake.Info = catalog.Info{Name: "mine", Version: "1.0"}
	return err
}

// connect starts the conversation.
func (s *spoken) connect() error {
	table, err := hook.NewTable(hook.Options{}, s.hooks...)
	if err != nil {
		return err
	}
	s.serve.Hooks, s.serve.Name = table, s.spec.Names.ForHooks
	s.serve.Allow, s.serve.Deny = s.spec.Names.ForPolicy(s.serve.Allow), s.spec.Names.ForPolicy(s.serve.Deny)
	if s.serving && s.spec.Evaluation != nil && s.spec.Evaluation.Runtime {
		if s.serve.Runtime, err = serve.NewRuntime("jq", serve.RuntimeOptions{}); err != nil {
			return err
		}
	}
	server := s.spec.NewServer(serve.New(s.serve))
	here, there := transport.Pair()
	s.far, s.mine = there, s.spec.NewCodec(s.codec)
	s.p = peer.New(here, s.mine, peer.Options{Client: !s.serving, Handler: server.Accept, CloseTimeout: time.Second, Note: func(n peer.Note) { s.notes <- n.Text }})
	s.t.Cleanup(func() {
		if err := errors.Join(server.Close(), table.Close()); err != nil {
			s.t.Error(err)
		}
	})
	go func() {
		defer close(s.came)
		for {
			msg, err := there.Recv()
			if err != nil {
				return
			}
			s.came <- string(msg)
		}
	}()
	return nil
}

func (s *spoken) context() (context.Context, context.CancelFunc) {
	if *update {
		return context.WithTimeout(s.t.Context(), time.Second)
	}
	return context.WithTimeout(s.t.Context(), patience)
}
