package validate_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rpcx/commands"
	"rpcx/wire/hook"
	"rpcx/wire/jq"
	"rpcx/wire/serve"
	"rpcx/wire/session"
	"rpcx/wire/testkit"
	"rpcx/wire/validate/probes"
)

// TestMain runs rpcx instead of the tests in a subprocess of a test.
func TestMain(m *testing.M) {
	if os.Getenv("RPCX_PLANTED") != "" {
		commands.Main(append([]string{"rpcx"}, os.Args[1:]...)).Exit()
	}
	os.Exit(m.Run())
}

// Each file in testdata/planted has a correct conversation of a dialect, written by hand from its specification, and defects:
//
//	dialect NAME         its demo, and further arguments for --role client (DEMO is the demo's file)
//	try METHOD[=PARAMS]  a method to call on a live server, as with --try
//	> MESSAGE            what the client sends in the correct conversation, whose messages are numbered from 1
//	< MESSAGE            what the server sends
//	= LINE               another line of a tape, such as the close
//	...                  the rest is not played live, because it depends on what the server sends
//	server WORDS :: RULES :: N EDIT    a server's defect, on a tape
//	client WORDS :: RULES :: N EDIT    a client's defect, on a tape and live
//	tape   WORDS :: RULES :: N EDIT    a client's defect, only on a tape
//	right  WORDS :: REASON :: N EDIT   unusual but correct: validate must find no problem
//	live   WORDS :: RULES :: PROGRAM   a live server's defect: PROGRAM is run on each message of a correct server
//
// EDIT is a jq program whose outputs replace message N. An object with raw as its only member becomes text. + EDIT yields
// messages that follow message N, and && N EDIT changes another message, too. In PROGRAM, $conn is the number of the
// connection, from 1. A defect must violate exactly one of RULES. Only a live server's defect can violate several.
type planted struct {
	dialect, demo string
	flags         []string
	tries         []string // --try and its value, for each method
	good          []string
	live          int // number of lines that are played live
	defects       []defect
}

type defect struct {
	kind, words string
	rules       []string
	program     string // for a live server
	edits       []edit
}

type edit struct {
	line    int
	after   bool
	program string
}

func read(t *testing.T, file string) *planted {
	b, err := os.ReadFile(file)
	testkit.OK(t, err)
	p := &planted{}
	for text := range strings.Lines(string(b)) {
		text = strings.TrimSpace(text)
		word, rest, _ := strings.Cut(text, " ")
		switch word {
		case "", "#":
		case "dialect":
			words := strings.Fields(rest)
			p.dialect, p.demo, p.flags = words[0], words[1], words[2:]
			for i, word := range p.flags {
				if word == "DEMO" {
					p.flags[i], _ = filepath.Abs("../serve/demo/" + p.demo + ".json")
				}
			}
		case "try":
			p.tries = append(p.tries, "--try", rest)
		case "...":
			p.live = len(p.good)
		case ">", "<", "=":
			p.good = append(p.good, text)
		default:
			p.defects = append(p.defects, parsed(t, word, rest))
		}
	}
	if p.live == 0 {
		p.live = len(p.good)
	}
	return p
}

func parsed(t *testing.T, kind, text string) defect {
	parts := strings.SplitN(text, " :: ", 3)
	if len(parts) != 3 {
		t.Fatalf("no defect: %s %s", kind, text)
	}
	d := defect{kind: kind, words: parts[0], rules: strings.Fields(parts[1]), program: parts[2]}
	if kind == "live" {
		return d
	}
	for text := range strings.SplitSeq(d.program, " && ") {
		number, program, _ := strings.Cut(text, " ")
		e, err := edit{}, error(nil)
		if e.line, err = strconv.Atoi(number); err != nil {
			t.Fatalf("no line: %s", text)
		}
		e.program, e.after = strings.CutPrefix(program, "+ ")
		d.edits = append(d.edits, e)
	}
	return d
}

// edited returns the conversation with the defect.
func (p *planted) edited(t *testing.T, d *defect) (lines []string) {
	for i, line := range p.good {
		at := slices.IndexFunc(d.edits, func(e edit) bool { return e.line == i+1 })
		if at < 0 || d.edits[at].after {
			lines = append(lines, line)
		}
		if at < 0 {
			continue
		}
		in := line[2:]
		if line[0] == '=' {
			in = "null"
		}
		for _, out := range run(t, d.edits[at].program, in, 0) {
			side := line[:2]
			if d.edits[at].after {
				side = "< "
				if d.kind != "server" {
					side = "> "
				}
			}
			lines = append(lines, side+out)
		}
	}
	return lines
}

// run returns the outputs of a program for a message on a connection.
func run(t *testing.T, program, msg string, conn int) (all []string) {
	p, err := jq.Compile(program, jq.Options{Vars: map[string]json.RawMessage{"conn": strconv.AppendInt(nil, int64(conn), 10)}})
	testkit.OK(t, err)
	err = p.Run(context.Background(), []byte(msg), func(out json.RawMessage) (bool, error) {
		text := string(out)
		var raw struct{ Raw *string }
		if json.Unmarshal(out, &raw) == nil && raw.Raw != nil {
			text = *raw.Raw
		}
		all = append(all, text)
		return true, nil
	})
	if err != nil {
		return []string{msg} // the program does not apply to this message
	}
	return all
}

// onTape returns the lines of a conversation as a tape.
func (p *planted) onTape(lines []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{\"tape\":1,\"dialect\":%q}\n", p.dialect)
	for _, line := range lines {
		dir := map[byte]string{'>': "send", '<': "recv"}[line[0]]
		switch {
		case dir == "":
			b.WriteString(line[2:])
		case json.Valid([]byte(line[2:])):
			fmt.Fprintf(&b, `{"dir":%q,"msg":%s}`, dir, line[2:])
		default:
			fmt.Fprintf(&b, `{"dir":%q,"text":%q}`, dir, line[2:])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// rpcx runs rpcx with args in dir, and returns the rules that each source, a tape or a live peer, violates.
func rpcx(t *testing.T, dir string, args ...string) map[string][]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, os.Args[0], args...)
	c.Dir, c.Env = dir, append(os.Environ(), "RPCX_PLANTED=1", "XDG_RUNTIME_DIR="+dir, "XDG_STATE_HOME="+dir, "XDG_CACHE_HOME="+dir)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 4 && exit.ExitCode() != 5) {
		t.Errorf("rpcx %q: %v\n%s", args, err, stderr.String())
	}
	return rulesIn(stdout.String())
}

func rulesIn(stdout string) map[string][]string {
	rules := map[string][]string{}
	for line := range strings.Lines(stdout) {
		var p struct{ Source, Rule string }
		if json.Unmarshal([]byte(line), &p) == nil && !slices.Contains(rules[p.Source], p.Rule) {
			rules[p.Source] = append(rules[p.Source], p.Rule)
		}
	}
	for _, found := range rules {
		slices.Sort(found)
	}
	return rules
}

// verdicts counts the found defects, and collects the rules that live servers violate, and the tapes of the live runs.
type verdicts struct {
	mu         sync.Mutex
	all, found int
	live       map[string]bool
	dir        string // of the tapes
	taped      []taped
}

// taped is a live run, whose tape must have the same problems.
type taped struct {
	how   string
	live  []string
	fewer bool // validate may find fewer problems on the tape than live
}

// run runs rpcx in dir, records a tape, and returns the violated rules.
func (v *verdicts) run(t *testing.T, how, dir string, fewer bool, args ...string) []string {
	v.mu.Lock()
	n := len(v.taped)
	v.taped = append(v.taped, taped{how: how, fewer: fewer})
	v.mu.Unlock()
	var live []string
	for _, found := range rpcx(t, dir, append(args, "--record", filepath.Join(v.dir, tapeName(n)))...) {
		live = append(live, found...)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.taped[n].live = live
	return live
}

func tapeName(n int) string { return fmt.Sprintf("%d.tape", n) }

// replay checks the tapes of all live runs.
func (v *verdicts) replay(t *testing.T) {
	args := []string{"validate"}
	for n := range v.taped {
		args = append(args, tapeName(n))
	}
	again := rpcx(t, v.dir, args...)
	for n, run := range v.taped {
		found := again[tapeName(n)]
		for _, rule := range found {
			if !slices.Contains(run.live, rule) {
				t.Errorf("%s: %s is reported for the tape, but not live", run.how, rule)
			}
		}
		if !run.fewer && len(found) != len(run.live) {
			t.Errorf("%s: live %q, on the tape %q", run.how, run.live, found)
		}
	}
}

// note counts a defect, and logs it if it was not found or other rules were reported.
func (v *verdicts) note(t *testing.T, how string, d *defect, found []string, exact bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.all++
	if slices.ContainsFunc(d.rules, func(r string) bool { return slices.Contains(found, r) }) {
		v.found++
	} else {
		t.Logf("missed %s: %s %s: found %q, want %q", how, d.kind, d.words, found, d.rules)
	}
	for _, r := range found {
		if exact && !slices.Contains(d.rules, r) {
			t.Errorf("%s: %s %s: also reported %s", how, d.kind, d.words, r)
		}
		if d.kind == "live" {
			v.live[r] = true
		}
	}
}

const (
	atOnce = 6 // the defects of a dialect that are tested at the same time, because most of the time is spent in waiting

	// missing is the wait for a response that a defect may prevent. If a response arrived later, the client's next message would be
	// another defect.
	missing = 2 * time.Second
)

// validate finds 95 % of the planted defects in each dialect, on tapes and live, and no problem in the correct conversation. The
// tape of a live run has the same problems.
func TestPlanted(t *testing.T) {
	files, _ := filepath.Glob("testdata/planted/*.txt")
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			p := read(t, file)
			v := verdicts{live: map[string]bool{}, dir: t.TempDir()}
			some := p.chosen()
			lines := map[int][]string{good: p.good}
			for _, i := range some {
				if p.defects[i].kind != "live" {
					lines[i] = p.edited(t, &p.defects[i])
				}
			}
			played := p.play(t, lines)
			if len(p.good) > 0 {
				if found := played[tapeName(good)]; len(found) > 0 {
					t.Errorf("problems on the tape of the correct conversation: %q", found)
				}
				if found := p.client(t, &v, p.good[:p.live], 20*time.Second); len(found) > 0 {
					t.Errorf("problems of the correct client: %q", found)
				}
			}
			if found := p.server(t, &v, "."); len(found) > 0 {
				t.Errorf("problems of the correct server: %q", found)
			}
			slots := make(chan struct{}, atOnce)
			var running sync.WaitGroup
			for _, i := range some {
				slots <- struct{}{}
				running.Go(func() {
					defer func() { <-slots }()
					p.plant(t, &v, &p.defects[i], lines[i], played[tapeName(i)])
				})
			}
			running.Wait()
			v.replay(t)
			if testkit.Samples() {
				return
			}
			p.probed(t, v.live)
			t.Logf("%d of %d found, %d planted", v.found, v.all, len(p.defects))
			if len(p.good) > 0 && len(p.defects) < 15 || v.found*100 < v.all*95 {
				t.Errorf("%d of %d found, %d planted", v.found, v.all, len(p.defects))
			}
		})
	}
}

// chosen returns the indexes of the defects to test.
func (p *planted) chosen() (some []int) {
	for i := range p.defects {
		if testkit.Sampled(i) {
			some = append(some, i)
		}
	}
	return some
}

// plant tests whether validate finds a defect. found are the rules that lines violate on a tape.
func (p *planted) plant(t *testing.T, v *verdicts, d *defect, lines, found []string) {
	if d.kind == "live" {
		v.note(t, "live", d, p.server(t, v, d.program), false)
		return
	}
	if d.kind == "right" {
		if len(found) > 0 {
			t.Errorf("%s: reported %q", d.words, found)
		}
		return
	}
	v.note(t, "on a tape", d, found, true)
	if d.kind == "client" && len(d.edits) == 1 && d.edits[0].line <= p.live {
		v.note(t, "live", d, p.client(t, v, lines[:p.live+len(lines)-len(p.good)], missing), true)
	}
}

// probed checks that each probe of the dialect has found a problem in a live server.
func (p *planted) probed(t *testing.T, found map[string]bool) {
	set, err := probes.For(p.dialect)
	testkit.OK(t, err)
	for _, probe := range set.Probes {
		if probe.Page == set.Page && !found[probe.Name] { // the other probes belong to the base
			t.Errorf("no row with a live server shows that the probe %s finds a problem", probe.Name)
		}
	}
}

// good is the number of the correct conversation among the defects.
const good = -1

// play checks conversations on tapes, each with its number, and returns the violated rules of each tape.
func (p *planted) play(t *testing.T, lines map[int][]string) map[string][]string {
	dir := t.TempDir()
	args := []string{"validate", "--"}
	for n, conversation := range lines {
		testkit.OK(t, os.WriteFile(filepath.Join(dir, tapeName(n)), []byte(p.onTape(conversation)), 0o600))
		args = append(args, tapeName(n))
	}
	return rpcx(t, dir, args...)
}

// client sends the client's lines of the conversation to a live check.
func (p *planted) client(t *testing.T, v *verdicts, lines []string, wait time.Duration) []string {
	dir := t.TempDir()
	go func() {
		_ = p.speak(dir, lines, wait)
	}()
	args := append([]string{"validate", "--role", "client", p.dialect + "+line+tcp://127.0.0.1:0", "--listening", "where"}, p.flags...)
	return v.run(t, strings.Join(lines, " "), dir, false, args...)
}

// speak sends the client's lines, and waits for as many messages as there are lines of the server. The hooks send fewer messages than
// some conversations have, so only the first one after a message of the client may take the time wait.
func (p *planted) speak(dir string, lines []string, wait time.Duration) error {
	var where struct{ Listening string }
	for b := []byte(nil); json.Unmarshal(b, &where) != nil; b, _ = os.ReadFile(filepath.Join(dir, "where")) {
		time.Sleep(time.Millisecond) // time: rpcx writes the file when it listens
	}
	_, at, _ := strings.Cut(where.Listening, "://")
	conn, err := net.Dial("tcp", at)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	patience := wait
	for _, line := range lines {
		switch line[0] {
		case '>':
			patience = wait
			if _, err := conn.Write([]byte(line[2:] + "\n")); err != nil {
				return err
			}
		case '<':
			_ = conn.SetReadDeadline(time.Now().Add(patience))
			_, _ = in.ReadString('\n')
			patience = missing
		}
	}
	return nil
}

// server checks the dialect's demo live while a program edits each message that the demo sends.
func (p *planted) server(t *testing.T, v *verdicts, program string) []string {
	dir := t.TempDir()
	l := p.demonstrated(t, dir)
	defer l()
	front, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.OK(t, err)
	defer func() { _ = front.Close() }()
	go func() {
		for n := 1; ; n++ {
			conn, err := front.Accept()
			if err != nil {
				return
			}
			go p.spoil(t, conn, filepath.Join(dir, "s"), program, n)
		}
	}()
	idle := "500ms"
	if program == "." || testkit.Race {
		idle = "5s" // a correct server may be slow
	}
	args := []string{"validate", p.dialect + "+line+tcp://" + front.Addr().String(), "--idle", idle, "--intrusive", "--trust-hints"}
	return v.run(t, program, dir, true, append(args, p.tries...)...)
}

// spoil passes messages between client, which is connection n, and the server at a socket, whose messages it edits.
func (p *planted) spoil(t *testing.T, client net.Conn, at, program string, n int) {
	server, err := net.Dial("unix", at)
	if err != nil {
		return
	}
	go func() {
		_, _ = bufio.NewReader(client).WriteTo(server)
		_ = server.(*net.UnixConn).CloseWrite()
	}()
	in := bufio.NewReader(server)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			_ = client.Close()
			return
		}
		for _, out := range run(t, program, line, n) {
			_, _ = client.Write([]byte(strings.TrimSuffix(out, "\n") + "\n"))
		}
	}
}

// demonstrated serves the demo until end is called.
func (p *planted) demonstrated(t *testing.T, dir string) (end func()) {
	c := serve.Demo(p.demo)
	if c == nil {
		t.Fatalf("unknown demo %s", p.demo)
	}
	hooks, err := hook.FromCatalog(c)
	testkit.OK(t, err)
	e, err := session.ParseEndpoint(p.dialect+"+line+unix:"+filepath.Join(dir, "s"), "")
	testkit.OK(t, err)
	o := session.Options{Catalog: c, Hooks: hooks}
	if eval := e.Spec().Evaluation; eval != nil && eval.Runtime {
		o.Runtime = "jq"
	}
	l, err := session.Listen(t.Context(), e, o)
	testkit.OK(t, err)
	served := make(chan error, 1)
	go func() { served <- l.Serve() }()
	return func() {
		_ = l.Close()
		<-served
	}
}
