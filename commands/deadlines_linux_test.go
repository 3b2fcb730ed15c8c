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
	"sync"
	"syscall"
	"testing"
	"time"

	"rpcx/wire/testkit"
)

// endlessCommands has commands in each state that can last forever: waiting for a silent peer (SILENT, and H:P over TCP), a file
// (FIFO; - is stdin), a program, a hook, or a session with a silent peer (@s, @j and @p), printing help from an endless catalog
// (HUGE), running the programs on a tape (TAPE), and serving.
const endlessCommands = `
call unix:SILENT m
call mcp+unix:SILENT m
call unix:SILENT m --wait 1h
call unix:DIR/none m --wait 1h
call accept+unix:DIR/a m
call http://H:P/ m
call ws://H:P/ m
call tls://H:P m
call https://H:P/ m
call mcp+http://H:P/ m
call hotrepl+ws://H:P/ m
call a2a+http://H:P/ m
call @s m
call 'exec:sh -c "trap \"\" TERM INT HUP; sleep 100; sleep 100"' m
call unix:SILENT --batch
call unix:SILENT m --help
call mcp+unix:SILENT m --help
call 'HUGE' big --help
call unix:SILENT big x:=1 --catalog DIR/catalog.json
call tape:TAPE m
call demo:orders getOrder id=o_001 -q 'def f: f; f'
call demo:orders getOrder id=o_001 --expect 'def f: f; f'
call demo:orders approveOrder id=o_003 --on 'approve=jq:def f: f; f'
call demo:orders approveOrder id=o_003 --on 'approve=sh:trap "" TERM; sleep 100'
call demo:orders approveOrder id=o_003 --on 'approve=co:sleep 100'
call unix:SILENT m x@=-
call unix:SILENT m x@=FIFO
call unix:SILENT m --catalog FIFO
call http://H:P/ m -H @FIFO
call http://H:P/ m --token-command 'sleep 100'
call demo:orders getOrder id=o_001 --record FIFO
subscribe unix:SILENT m
subscribe http://H:P/ m
subscribe @s m
subscribe demo:orders watchOrders --select 'def f: f; f'
eval cdp+unix:SILENT 1
connect unix:SILENT
connect http://H:P/
connect mcp+unix:SILENT --session t
connect @s
session next @s
describe unix:SILENT
describe http://H:P/
describe unix:SILENT --probe
describe http://H:P/ --probe
describe tls://H:P --probe -k
describe 'exec:sleep 100' --probe
describe 'HUGE' big
validate unix:SILENT
validate mcp+unix:SILENT
validate http://H:P/
validate 'exec:sleep 100'
validate FIFO
validate --schema FIFO DIR/catalog.json
validate --schema DIR/catalog.json -
validate --role client unix:DIR/v
validate unix:SILENT --against DIR/small.json
job run hotrepl+unix:SILENT m
job start @j m
job status @j job-1
job wait @j job-1
job cancel @j job-1
job list @j
plugin call unix:SILENT f
plugin new unix:SILENT C
plugin describe unix:SILENT
plugin call @p f
plugin method @p 1 get
plugin get @p 1 size
plugin set @p 1 size 2
plugin destroy @p 1
plugin run @p -f -
plugin run unix:SILENT -f -
auth login http://H:P/ --no-browser
auth login http://H:P/ --with-token
plugin serve --on a=json:1
replay TAPE --listen unix:DIR/p
replay TAPE --diff TAPE
replay FIFO --show
serve unix:DIR/l --on m='sh:trap "" TERM; sleep 9'
serve unix:DIR/b --to unix:SILENT
serve mcp+unix:DIR/m --to scriptling+unix:SILENT
serve unix:DIR/k --on a=json:1 -- sh -c 'trap "" TERM; sleep 100; sleep 100'
serve unix:DIR/h --hooks FIFO
serve dial+unix:SILENT --on a=json:1
record unix:DIR/r --to unix:SILENT -o DIR/r.tape`

// Each command ends at most three seconds after --timeout expires, and at most three seconds after SIGTERM, in any state.
func TestEveryCommandEndsInTime(t *testing.T) { endInTime(t, endlessCommands) }

func endInTime(t *testing.T, commands string) {
	dir := t.TempDir()
	silent, tape := filepath.Join(dir, "silent"), filepath.Join(dir, "t.tape")
	at := listenSilently(t, silent)
	writeFile(t, filepath.Join(dir, "catalog.json"), hugeCatalog())
	writeFile(t, filepath.Join(dir, "small.json"), `{"catalog":1,"methods":[{"name":"m"}]}`)
	writeFile(t, tape, endlessTape())
	names := strings.NewReplacer("SILENT", silent, "H:P", at, "DIR", dir, "TAPE", tape,
		"HUGE", "exec:rpcx serve stdio: --catalog "+dir+"/catalog.json")
	load := measureLoad(t)
	for i, line := range strings.Split(strings.TrimSpace(commands), "\n") {
		if !testkit.Race && !testkit.Sampled(i) {
			continue
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			words := names.Replace(line)
			for _, by := range []string{"timeout", "signal"} {
				fifo := fmt.Sprintf("%s/%d%s", dir, i, by) // one per command: with a shared one, a reader could open another command's
				testkit.OK(t, syscall.Mkfifo(fifo, 0o600))
				words := strings.ReplaceAll(words, "FIFO", fifo)
				switch command := strings.Fields(words)[0]; {
				case by == "signal":
					endsInTime(t, load, "rpcx "+words, 0, syscall.SIGTERM)
				case command != "serve" && command != "record" && command != "replay" && !strings.HasPrefix(words, "plugin serve"):
					endsInTime(t, load, "rpcx "+words+" --timeout 1s", time.Second, 0)
				}
			}
		})
	}
}

// silentSessions are the endpoints of sessions whose peers send nothing after their handshakes.
var silentSessions = map[string]string{
	"s": "exec:sleep 100",
	"j": `hotrepl+exec:sh -c "echo '{\"type\":\"handshake\",\"protocolVersion\":2,\"control\":{\"supported\":true}}'; sleep 100"`,
	"p": `scriptling+exec:sh -c "read l; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocol\":\"1.0\",\"transport\":\"json\",\"library\":\"x\",\"version\":\"1\"}}'` +
		`; read l; echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":null}'; sleep 100"`,
}

// stuck is added to each bound before a command counts as stuck.
const stuck = 20 * time.Second

// A machineLoad repeatedly measures how long a command that does nothing takes.
type machineLoad struct {
	mu   sync.Mutex
	took []loadSample
}

type loadSample struct {
	ended time.Time
	took  time.Duration
}

func measureLoad(t *testing.T) *machineLoad {
	l := &machineLoad{}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			began := time.Now()
			_ = exec.Command("rpcx", "--version").Run()
			l.mu.Lock()
			l.took = append(l.took, loadSample{time.Now(), time.Since(began)})
			l.mu.Unlock()
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() {
		close(done)
		<-ended
	})
	return l
}

// since returns the longest measurement that ended after began or is the latest one.
func (l *machineLoad) since(began time.Time) (most time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, s := range l.took {
		if s.ended.After(began) || i == len(l.took)-1 {
			most = max(most, s.took)
		}
	}
	return most
}

// endsInTime runs a command and, if s is not 0, sends it the signal s, which must determine the exit status. The command must end
// within limit plus three seconds, plus the time that a command that does nothing takes.
func endsInTime(t *testing.T, load *machineLoad, line string, limit time.Duration, s syscall.Signal) {
	cmd := exec.Command("sh", "-c", "exec "+line)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+testkit.ShortDir(t), "XDG_CACHE_HOME="+t.TempDir(), "BROWSER=true")
	session := func(words ...string) {
		c := exec.Command("rpcx", words...)
		c.Env = cmd.Env
		_ = c.Run()
	}
	if strings.Contains(line, "@") || strings.Contains(line, "--session") {
		defer session("session", "close", "--all")
	}
	for name, e := range silentSessions {
		if strings.Contains(line, " @"+name) {
			session("connect", e, "--session", name)
		}
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	testkit.OK(t, cmd.Start())
	defer func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if s != 0 {
		select {
		case err := <-ended:
			if strings.Contains(line, "catalog.json") { // ends when the catalog is printed
				return
			}
			t.Fatalf("%s ended before the signal: %v %s", line, err, said.String())
		case <-time.After(time.Second): // by now, it is in the state to be tested
		}
		_ = cmd.Process.Signal(s)
	}
	began := time.Now()
	select {
	case <-ended:
	case <-time.After(limit + 3*time.Second + stuck):
		t.Errorf("%s did not end: %s", line, said.String())
		return
	}
	if status := shellStatus(cmd.ProcessState); s != 0 && status != 128+int(s) {
		t.Errorf("%s: status %d: %s", line, status, said.String())
	}
	took, most := time.Since(began), limit+3*time.Second
	if testkit.Race { // the steps between two checks of the time take several times longer
		most += 3 * time.Second
	}
	if own := took - load.since(began); own > most {
		t.Errorf("%s took %v, of which %v are its own: %s", line, took, own, said.String())
	}
}

// listenSilently listens on a Unix socket at path and on a TCP address, which it returns. Both servers only read.
func listenSilently(t *testing.T, path string) string {
	silent := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	testkit.Listen(t, "unix", path, silent)
	return testkit.Listen(t, "tcp", "127.0.0.1:0", silent)
}

func writeFile(t *testing.T, file, text string) {
	testkit.OK(t, os.WriteFile(file, []byte(text), 0o600))
}

// hugeCatalog has a method with 100,000 required params.
func hugeCatalog() string {
	var required, properties []string
	for i := range 100_000 {
		required = append(required, fmt.Sprintf(`"m%d"`, i))
		properties = append(properties, fmt.Sprintf(`"m%d":{"anyOf":[{"type":"string"},{"$ref":"#/methods/0/params"}]}`, i))
	}
	return `{"catalog":1,"methods":[{"name":"big","params":{"type":"object","required":[` +
		strings.Join(required, ",") + `],"properties":{` + strings.Join(properties, ",") + `}}}]}`
}

// endlessTape has 30 lines that are matched with a program that does not end.
func endlessTape() string {
	all := `{"tape":1,"dialect":"jsonrpc"}` + "\n"
	for i := range 30 {
		all += fmt.Sprintf(`{"dir":"send","match":"def f: f; f","msg":{"jsonrpc":"2.0","id":%d,"method":"m"}}`, i+1) + "\n"
	}
	return all
}
