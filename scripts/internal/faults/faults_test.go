//go:build linux

package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	program "rpcx/commands"
	"rpcx/wire/testkit"
)

// TestMain runs the peer of a cell, rpcx or the tests, depending on the name of the program.
func TestMain(m *testing.M) {
	switch {
	case filepath.Base(os.Args[0]) == "rpcx":
		program.Main(os.Args).Exit()
	case len(os.Args) > 1 && os.Args[1] == "child":
		must(child(os.Args[2:]))
	default:
		m.Run()
	}
}

// sample covers each command, each transport and each kind of fault.
var sample = strings.Fields(`call/tcp/cut-0 call/ws/close-1000 call/http/http-401 batch/sse/swap batch/exec/flood-endless subscribe/wss/cutin-2
	connect/unix/half-send-last describe/https/http-503 eval/ipc/gone-last plugin/tls/rst-last job/tcp/unexpected-other
	session/ws/cut-1 record/tcp/oversize-last replay/http/http-500 record-server/tcp/cut-1 serve/ws/flood-deaf record-client/tcp/garbage-first
	replay-client/unix/endless-last call/tls/tls-alert call/ipc/stopped-last call/unix/refused call/http/gzip connect/tcp/never-last
	subscribe/tcp/never-last call/exec/term-stopped`)

func TestSample(t *testing.T) { try(t, sample) }

// try tests the cells with these names.
func try(t *testing.T, names []string) {
	if testkit.Race {
		t.Skip("the race detector changes memory and time")
	}
	b := &bench{rpcx: filepath.Join(t.TempDir(), "rpcx"), timeout: time.Second, slack: time.Second, seed: 1}
	self, err := os.Executable()
	testkit.OK(t, err)
	if err := os.Link(self, b.rpcx); err != nil {
		t.Skip("the test's binary cannot be linked: ", err)
	}
	b.prepare(t.TempDir())
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			c, err := parseCell(name)
			if err != nil || c.cannot() != "" {
				t.Fatal(err, c.cannot())
			}
			t.Parallel()
			v := b.try(c)
			for tries := 0; len(v.faults) > 0 && v.slow && tries < 2; tries++ {
				v = b.try(c) // the machine may have been busy
			}
			if len(v.faults) > 0 || v.occurred == never {
				t.Errorf("fault at %q: %q, %+v", v.occurred, v.faults, v.steps)
			}
		})
	}
}

// TestTable checks that the table is complete, and that each fault occurs in a possible cell.
func TestTable(t *testing.T) {
	able := map[string]bool{}
	for _, c := range cells() {
		if c.cannot() == "" {
			able[c.run.name], able[c.over.name], able[c.fault.name] = true, true, true
		}
	}
	for what, names := range map[string]string{
		"command":   "call batch subscribe connect describe eval plugin job session record record-server record-client replay replay-client serve",
		"transport": "ws wss http https sse tcp tls unix exec ipc",
		"fault": "cut-0 cut-9 cutin-0 cutin-9 half-send-first half-send-last half-recv-first half-recv-last rst-first rst-last delay bytes garbage-first " +
			"dup-first dup-last swap oversize-last close-1000 close-1002 close-1011 close-1005 close-999 noclose stopped-first stopped-last " +
			"never-head never-first never-last gone-last trickle flood flood-endless flood-deaf tls-alert tls-stranger tls-plain tls-never refused " +
			"http-301 http-302 http-307 http-308 http-400 http-401 http-403 http-404 http-429 http-500 http-502 http-503 endless-last gzip",
	} {
		for name := range strings.FieldsSeq(names) {
			if !able[name] {
				t.Errorf("no cell has the %s %s", what, name)
			}
		}
	}
	for _, f := range faults() {
		if !able[f.name] {
			t.Errorf("%s can be nowhere", f.name)
		}
	}
}

// played returns the bytes that a cell's peer sends in response to one request.
func played(t *testing.T, c cell, seed uint64) string {
	t.Helper()
	ours, theirs := net.Pipe()
	p := c.newPeer(c.luck(seed), func(phase) {})
	close(p.done) // the peer then waits for nothing
	go func() {
		p.serve(newLink(theirs, nil))
		theirs.Close()
	}()
	text := fmt.Sprintf(adding, 1)
	go func() {
		switch {
		case c.over.ws:
			io.WriteString(ours, "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
			ours.Write(masked(fin|opText, []byte(text)))
		case c.over.http:
			ours.Write(post(text))
		default:
			io.WriteString(ours, text+"\n")
		}
	}()
	said, err := io.ReadAll(ours)
	testkit.OK(t, err)
	return string(said)
}

// TestSeed checks that a seed determines the cut and the garbage.
func TestSeed(t *testing.T) {
	for _, name := range []string{"call/tcp/cutin-0", "call/ws/cutin-1", "call/ws/cutin-0", "call/http/cutin-0", "call/sse/cutin-1", "call/tcp/garbage-last", "call/ws/garbage-head"} {
		c, err := parseCell(name)
		testkit.OK(t, err)
		var all []string
		for seed := range uint64(20) {
			first := played(t, c, seed)
			if again := played(t, c, seed); again != first {
				t.Errorf("%s, seed %d: the peer sent %q, then %q", name, seed, first, again)
			}
			all = append(all, first)
		}
		slices.Sort(all)
		if len(slices.Compact(all)) < 5 {
			t.Errorf("%s: too few seeds make a difference", name)
		}
	}
}

// TestTaped checks that problems on a tape are found.
func TestTaped(t *testing.T) {
	const (
		top   = `{"tape":1}` + "\n" + `{"t":0,"conn":1,"open":{"endpoint":"x"}}` + "\n"
		asked = `{"t":1,"conn":1,"dir":"send","msg":{"id":1, "password":"…"}}` + "\n"
		told  = `{"t":1,"conn":1,"dir":"recv","msg":{"id":1,"result":2}}` + "\n"
		end   = `{"t":2,"conn":1,"dir":"recv","close":{"error":"lost"}}` + "\n"
		said  = `{"dir":"send","msg":{"id":1,"password":"` + secretWord + `"}}` + "\n" + `{"dir":"recv","msg":{"id":1,"result":2}}` + "\n" + `{"dir":"send","msg":{"id":2}}` + "\n"
		more  = `{"t":2,"conn":1,"dir":"send","msg":{"id":2}}` + "\n"
	)
	c, err := parseCell("record/tcp/cut-0")
	testkit.OK(t, err)
	for tape, want := range map[string]string{
		top + asked + told + more + end:                     "",
		top + told + asked + more + end:                     "lacks recv",
		top + asked + more + end:                            "lacks recv",
		top + asked + told + end:                            "lacks send",
		top + asked + told + more:                           "opened +1 times",
		top + asked + told + more + end + `{"t":3,`:         "ends within a line",
		top + asked + told + more + end + "{\"t\":3,\n":     "unexpected end",
		strings.ReplaceAll(top+asked, "…", secretWord):      "a secret is on the tape",
		top + end + asked + told + more:                     "goes back in time",
		strings.TrimPrefix(top+asked+told+end, "{\"tape\""): "the tape",
	} {
		r := room{dir: t.TempDir()}
		testkit.OK(t, os.Mkdir(filepath.Join(r.dir, "work"), 0o700))
		for name, text := range map[string]string{filepath.Join("work", tapeFile): tape, saidFile: said} {
			testkit.OK(t, os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600))
		}
		v := verdict{cell: c, occurred: last}
		v.taped(r)
		if got := strings.Join(v.faults, "\n"); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("tape %s: got %q, want %q", tape, got, want)
		}
	}
}

// TestDump checks that a dump counts goroutines by their creator, without those of the runtime, and names the additional ones.
func TestDump(t *testing.T) {
	const text = `SIGQUIT: quit
PC=0x4916e1 m=0 sigcode=0

goroutine 0 gp=0x16f1a20 m=0 mp=0x16f2c00 [idle]:
runtime.futex(0x16f2d58)

goroutine 1 gp=0xc000 m=nil [select]:
main.main()

goroutine 17 gp=0xc001 m=nil [force gc (idle)]:
created by runtime.init.7 in goroutine 1

goroutine 40 gp=0xc002 m=nil [IO wait, 2 minutes]:
created by rpcx/wire/x.Serve in goroutine 1

goroutine 41 gp=0xc003 m=nil [select]:
created by rpcx/wire/x.Serve in goroutine 1
`
	h := &held{goroutines: parseDump(text)}
	if got := fmt.Sprint(h.goroutines); got != "map[main:1 rpcx/wire/x.Serve:2]" {
		t.Error(got)
	}
	usual := &held{goroutines: map[string]int{"main": 1, "rpcx/wire/x.Serve": 1}}
	if got := h.beyond(usual); !strings.Contains(got, "3 goroutines, 2 after") || !strings.Contains(got, "2 of rpcx/wire/x.Serve, not 1") {
		t.Error(got)
	}
	if got := usual.beyond(h); got != "" {
		t.Error(got)
	}
}

// TestOutput checks that only the first and last lines of long output are kept.
func TestOutput(t *testing.T) {
	var o output
	for i := range 200_000 {
		fmt.Fprintln(&o, i)
	}
	text := o.String()
	if !strings.HasPrefix(text, "0\n1\n") || !strings.HasSuffix(text, "\n199999\n") || len(text) > 3*mostOutput {
		t.Errorf("%d bytes, %.20q … %q", len(text), text, text[len(text)-20:])
	}
	for line := range strings.Lines(text) {
		if n, err := strconv.Atoi(strings.TrimSuffix(line, "\n")); err != nil || n >= 200_000 {
			t.Fatalf("%q", line)
		}
	}
	var short output
	fmt.Fprint(&short, "no line")
	if short.String() != "no line" {
		t.Error(short.String())
	}
}

// A signal that ends the program ends the processes of all cells.
func TestSignalEndsAll(t *testing.T) {
	defer signalled.Store(false)
	b := &bench{dir: t.TempDir()}
	r := b.room(cells()[0])
	cmd := exec.Command("sh", "-c", "sleep 600 & exec sleep 600")
	cmd.Env = environment(r)
	testkit.OK(t, cmd.Start())
	b.stop()
	if err := cmd.Wait(); err == nil {
		t.Error("the command ended without being killed")
	}
	if left := marked(r.id); len(left) > 0 {
		t.Errorf("processes remain: %v", left)
	}
	if _, err := os.Stat(b.dir); !os.IsNotExist(err) {
		t.Errorf("the directory was not removed: %v", err)
	}
}
