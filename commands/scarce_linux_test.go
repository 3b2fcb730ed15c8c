package commands

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// scarceCommands has a command for each way in which rpcx opens files, sockets and pipes. SERVER, HTTP and WS are endpoints of a peer.
const scarceCommands = `
rpcx call SERVER m
rpcx call HTTP m
rpcx call WS m
rpcx call tape:base.tape getOrder id=o_001
rpcx call 'ipc:rpcx serve ipc: --on m=json:1' m
rpcx call 'exec:rpcx serve stdio: --on m=json:1' m
rpcx call 'exec:rpcx serve stdio: --on m=json:1' m --record x.tape
rpcx call demo:orders approveOrder id=o_003 --on 'approve=sh:echo true'
rpcx call demo:orders getOrder id=o_001 --catalog catalog.json --record x.tape
rpcx call demo:orders getOrder id:@=id.json
rpcx describe SERVER --probe -q .probe.endpoint
rpcx validate SERVER --try m
rpcx validate base.tape
rpcx replay base.tape --show
rpcx replay base.tape --diff base.tape
rpcx replay base.tape --format html
rpcx connect SERVER --session s --ensure; rpcx call @s m; rpcx session close --all
rpcx serve unix:l.sock --on m=json:1 -- rpcx call @ m
rpcx serve http://127.0.0.1:0/ --on m=json:1 -- rpcx call @ m
rpcx serve mcp+unix:l.sock --to SERVER -- rpcx call @ m
rpcx record unix:l.sock --to SERVER -o x.tape -- rpcx call @ m
cat base.tape | rpcx replay - --show
cat base.tape | rpcx replay - --format html
echo '{"method":"getOrder","params":{"id":"o_001"}}' | rpcx call demo:orders --batch
rpcx call HTTP m --retry 1
rpcx auth status
rpcx session list`

// With too few file descriptors, and with files and directories that cannot be written, a command prints the same as without these
// limits, or fails with a message that names the cause once. It leaves nothing behind.
func TestScarceSystem(t *testing.T) {
	shared := t.TempDir()
	unix, _, _ := serving(t, "unix:"+filepath.Join(shared, "s"), "--on", "m=json:1")
	http, _, _ := serving(t, "http://127.0.0.1:0/", "--on", "m=json:1")
	ws, _, _ := serving(t, "ws://127.0.0.1:0/", "--on", "m=json:1")
	names := strings.NewReplacer("SERVER", unix, "HTTP", http, "WS", ws)
	for line := range strings.SplitSeq(strings.TrimSpace(scarceCommands), "\n") {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "id.json"), `"o_001"`)
			run := func(limit string) (status int, stdout, stderr string) {
				cmd := exec.Command("sh", "-c", limit+`set -e; rm -f x.tape; `+names.Replace(line))
				cmd.Dir, cmd.WaitDelay = dir, 20*time.Second
				cmd.Env = append(cmd.Environ(), "XDG_RUNTIME_DIR="+filepath.Join(dir, "run"), "HOME="+dir)
				var out, errors bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &errors
				_ = cmd.Run()
				return shellStatus(cmd.ProcessState), out.String(), errors.String()
			}
			run("rpcx call demo:orders getOrder id=o_001 --record base.tape; rpcx describe demo:orders --json >catalog.json; ")
			want, full, said := run("")
			if want != 0 {
				t.Fatalf("status %d: %s", want, said)
			}
			fails := func(limit, because string) bool {
				status, stdout, stderr := run(limit)
				nothingLeft(t, dir)
				switch {
				case status == 0 && stdout == full:
					return false
				case strings.Contains(stderr, "fatal error: runtime:"): // Go cannot start a program with so few
				case status == 0, status >= 70 && status != 74, !strings.Contains(strings.ToLower(stderr), because),
					regexp.MustCompile("(?i)" + because + ".*" + because).MatchString(stderr):
					t.Errorf("%s status %d\n%s%s", limit, status, stdout, stderr)
				}
				return true
			}
			for n, enough := 8, 0; enough < 2 && n < 60; n++ {
				if fails(fmt.Sprintf("ulimit -n %d; ", n), "too many open files") {
					enough = 0
				} else {
					enough++
				}
			}
			fails("ulimit -f 0; ", "file too large")
			for _, name := range []string{"HOME", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
				fails("export "+name+"=/dev/null/x; ", "not a directory")
			}
		})
	}
}
