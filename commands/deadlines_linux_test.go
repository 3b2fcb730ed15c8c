package commands

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Every command ends within --timeout and three seconds, and within three seconds after SIGTERM, in any state: waiting
// for a silent peer, showing help of an endless catalog, running programs of a tape, or serving.
func TestEveryCommandEndsInTime(t *testing.T) {
	dir := t.TempDir()
	silent, catalog, tape := filepath.Join(dir, "silent"), filepath.Join(dir, "catalog.json"), filepath.Join(dir, "t.tape")
	listenSilently(t, silent)
	writeFile(t, catalog, hugeCatalog())
	writeFile(t, tape, endlessTape())
	serve := `exec:rpcx serve stdio: --dialect introspect --catalog ` + catalog
	for _, tt := range []struct {
		words string
		timed bool // it has --timeout
	}{
		{words: "call unix:" + silent + " m", timed: true},
		{words: "call mcp+unix:" + silent + " m", timed: true},
		{words: "call unix:" + silent + " m --wait 1h", timed: true},
		{words: "call unix:" + dir + "/none m --wait 1h", timed: true},
		{words: "call unix:" + silent + " m --help", timed: true},
		{words: "call mcp+unix:" + silent + " m --help", timed: true},
		{words: "call 'introspect+" + serve + "' big --help", timed: true},
		{words: "call 'introspect+" + serve + "' big x:=1", timed: true},
		{words: "describe 'introspect+" + serve + "' big", timed: true},
		{words: "call tape:" + tape + " m", timed: true},
		{words: "subscribe unix:" + silent + " m", timed: true},
		{words: "eval cdp+unix:" + silent + " 1", timed: true},
		{words: "describe unix:" + silent, timed: true},
		{words: "describe unix:" + silent + " --probe", timed: true},
		{words: "validate unix:" + silent, timed: true},
		{words: "validate mcp+unix:" + silent, timed: true},
		{words: "validate cdp+unix:" + silent, timed: true},
		{words: "job run ro+unix:" + silent + " m", timed: true},
		{words: "connect unix:" + silent, timed: true},
		{words: "connect mcp+unix:" + silent + " --session s", timed: true},
		{words: "replay " + tape + " --to unix:" + silent},
		{words: "serve unix:" + dir + "/l --on m='sh:trap \"\" TERM; sleep 9'"},
		{words: "record unix:" + dir + "/r --to unix:" + silent + " -o " + dir + "/r.tape"},
	} {
		t.Run(tt.words, func(t *testing.T) {
			t.Parallel()
			if tt.timed {
				endsInTime(t, "rpcx "+tt.words+" --timeout 1s", time.Second, 0)
			}
			endsInTime(t, "rpcx "+tt.words, 0, syscall.SIGTERM)
		})
	}
}

// slowMachine is added to the three seconds, since processes start slowly beside other tests.
const slowMachine = 4 * time.Second

// endsInTime runs a command, sends it a signal if there is one, and fails unless it ends within limit and three seconds.
func endsInTime(t *testing.T, line string, limit time.Duration, s syscall.Signal) {
	cmd := exec.Command("sh", "-c", "exec "+line)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir())
	var said bytes.Buffer
	cmd.Stderr = &said
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if s != 0 {
		select {
		case err := <-ended:
			t.Skipf("%s ended by itself: %v %s", line, err, said.String())
		case <-time.After(2 * time.Second): // it is at work, whatever that is
		}
		_ = cmd.Process.Signal(s)
	}
	began := time.Now()
	select {
	case <-ended:
	case <-time.After(limit + 3*time.Second + slowMachine):
		t.Errorf("%s does not end: %s", line, said.String())
		return
	}
	if took := time.Since(began); took > limit+3*time.Second {
		t.Logf("%s took %v", line, took)
	}
}

func listenSilently(t *testing.T, path string) {
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, c) }()
		}
	}()
}

func writeFile(t *testing.T, file, text string) {
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// hugeCatalog has one method, whose params have 100,000 members that are all required.
func hugeCatalog() string {
	var required, properties []string
	for i := range 100_000 {
		required = append(required, fmt.Sprintf(`"m%d"`, i))
		properties = append(properties, fmt.Sprintf(`"m%d":{"anyOf":[{"type":"string"},{"$ref":"#/methods/0/params"}]}`, i))
	}
	return `{"info":{"name":"x","version":"1"},"methods":[{"name":"big","kind":"unary","params":{"type":"object","required":[` +
		strings.Join(required, ",") + `],"properties":{` + strings.Join(properties, ",") + `}}}]}`
}

// endlessTape has 30 lines that match what an endless program says of a message.
func endlessTape() string {
	all := `{"tape":1,"dialect":"jsonrpc"}` + "\n"
	for i := range 30 {
		all += fmt.Sprintf(`{"dir":"send","match":"def f: f; f","msg":{"jsonrpc":"2.0","id":%d,"method":"m"}}`, i+1) + "\n"
	}
	return all
}
