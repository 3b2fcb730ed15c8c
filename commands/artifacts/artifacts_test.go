package artifacts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// announce returns a host's announcement of a file with the given content.
func announce(name, where, content string, more string) json.RawMessage {
	sum := sha256.Sum256([]byte(content))
	return json.RawMessage(fmt.Sprintf(`{%q:{%s,"sha256":%q,"byteSize":%d,"contentType":"text/plain","finalized":true%s}}`,
		name, where, hex.EncodeToString(sum[:]), len(content), more))
}

func put(t *testing.T, path, content string) string {
	t.Helper()
	testkit.OK(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestLocal(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	good := put(t, filepath.Join(root, "a b.txt"), "hello")
	secret := put(t, filepath.Join(outside, "secret"), "hello")
	testkit.OK(t, os.Symlink(secret, filepath.Join(root, "link")))
	testkit.OK(t, os.Mkdir(filepath.Join(root, "sub"), 0o700))
	linked := filepath.Join(outside, "root")
	testkit.OK(t, os.Symlink(root, linked))
	path := func(p string) string { return fmt.Sprintf(`"uri":"x:","path":%q`, p) }
	for _, tt := range []struct {
		name, root string
		in         json.RawMessage
		kind       wire.FaultKind // "" means saved
		says       string
	}{
		{"good", root, announce("f", path(good), "hello", ""), "", ""},
		{"a file uri", root, announce("f", fmt.Sprintf(`"uri":"file://%s"`, strings.ReplaceAll(good, " ", "%20")), "hello", ""), "", ""},
		{"a root that is a link", linked, announce("f", path(good), "hello", ""), "", ""},
		{"no root", "", announce("f", path(good), "hello", ""), wire.Usage, "it is a local file"},
		{"outside", root, announce("f", path(secret), "hello", ""), wire.Usage, "outside --artifact-root"},
		{"upwards", root, announce("f", path(root+"/sub/../../x"), "hello", ""), wire.Usage, "outside --artifact-root"},
		{"relative", root, announce("f", path("a b.txt"), "hello", ""), wire.Usage, "outside --artifact-root"},
		{"a link that leaves the directory", root, announce("f", path(filepath.Join(root, "link")), "hello", ""), wire.Expectation, "cannot be read"},
		{"a directory", root, announce("f", path(filepath.Join(root, "sub")), "hello", ""), wire.Expectation, "not a regular file"},
		{"missing", root, announce("f", path(filepath.Join(root, "none")), "hello", ""), wire.Expectation, "no such file"},
		{"a root that is missing", root + "/none", announce("f", path(root+"/none/f"), "hello", ""), wire.Usage, "--artifact-root: "},
		{"different content", root, announce("f", path(good), "hullo", ""), wire.Expectation, "sha256"},
		{"longer", root, announce("f", path(good), "hell", ""), wire.Expectation, "more than the announced 4 bytes"},
		{"shorter", root, announce("f", path(good), "hello!", ""), wire.Expectation, "5 bytes instead of the announced 6"},
		{"not finalized", root, json.RawMessage(`{"f":{"path":"/x","sha256":"","byteSize":1,"finalized":false}}`), wire.Expectation, "not finalized"},
		{"no size", root, json.RawMessage(`{"f":{"path":"/x","sha256":"","byteSize":"1","finalized":true}}`), wire.Expectation, "byteSize"},
		{"too large", root, json.RawMessage(`{"f":{"path":"/x","sha256":"","byteSize":101,"finalized":true}}`), wire.Expectation, "--max-artifact 100"},
		{"another scheme", root, announce("f", `"uri":"ftp://x/y"`, "hello", ""), wire.Usage, "file://, http:// or https://"},
		{"another machine", root, announce("f", `"uri":"file://host/etc/passwd"`, "hello", ""), wire.Usage, "another machine"},
		{"a name with a slash", root, announce("../f", path(good), "hello", ""), wire.Expectation, "is not a valid file name"},
		{"a hidden name", root, announce(".f", path(good), "hello", ""), wire.Expectation, "is not a valid file name"},
		{"no name", root, announce("", path(good), "hello", ""), wire.Expectation, "is not a valid file name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			s := &Saver{Dir: out, Root: tt.root, MaxSize: 100}
			err := s.Save(t.Context(), tt.in)
			judge(t, err, tt.kind, tt.says)
			left, _ := os.ReadDir(out)
			if tt.kind == "" != (len(left) == 1) {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func judge(t *testing.T, err error, kind wire.FaultKind, says string) {
	t.Helper()
	f := wire.AsFault(err)
	switch {
	case kind == "" && err != nil:
		t.Errorf("got %v", err)
	case kind != "" && (f == nil || f.Kind != kind || !strings.Contains(f.Message, says)):
		t.Errorf("got %v, want %s: %s", err, kind, says)
	}
}

// An invalid announcement does not prevent the others from being saved.
func TestOthersAreSaved(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	good := announce("g", fmt.Sprintf(`"path":%q`, put(t, filepath.Join(root, "good"), "hello")), "hello", "")
	both := json.RawMessage(`{"f":{"path":"/x","finalized":true},` + string(good[1:]))
	judge(t, (&Saver{Dir: out, Root: root}).Save(t.Context(), both), wire.Expectation, "byteSize")
	judge(t, (&Saver{Dir: filepath.Join(root, "good", "sub"), Root: root}).Save(t.Context(), good), wire.IO, "--save: ")
	if b, _ := os.ReadFile(filepath.Join(out, "g")); string(b) != "hello" {
		t.Errorf("g is %q", b)
	}
}

// Existing files are not overwritten, and the other files are still saved.
func TestNothingIsOverwritten(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	good := put(t, filepath.Join(root, "good"), "hello")
	put(t, filepath.Join(out, "f"), "mine")
	in := announce("f", fmt.Sprintf(`"path":%q`, good), "hello", "")
	both := json.RawMessage(string(in[:len(in)-1]) + "," + string(announce("g", fmt.Sprintf(`"path":%q`, good), "hello", "")[1:]))
	var saved []string
	s := &Saver{Dir: out, Root: root, Saved: func(path string, n int64) { saved = append(saved, fmt.Sprintf("%s %d", filepath.Base(path), n)) }}
	judge(t, s.Save(t.Context(), both), wire.Conflict, "already exists")
	if b, _ := os.ReadFile(filepath.Join(out, "f")); string(b) != "mine" || len(saved) != 1 || saved[0] != "g 5" {
		t.Errorf("%s, %v", b, saved)
	}
}

func TestRemote(t *testing.T) {
	var good atomic.Int32
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("a secret was sent along")
		}
		switch r.URL.Path {
		case "/good":
			good.Add(1)
			fmt.Fprint(w, "hello")
		case "/flood":
			for range 1000 {
				fmt.Fprint(w, strings.Repeat("x", 1000))
			}
		case "/silent", "/slow":
			w.Header().Set("Content-Length", "5")
			if r.URL.Path == "/slow" {
				fmt.Fprint(w, "hel")
				w.(http.Flusher).Flush()
			}
			<-r.Context().Done()
		case "/short":
			w.Header().Set("Content-Length", "5")
			fmt.Fprint(w, "hel")
		case "/away":
			http.Redirect(w, r, "/good", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer host.Close()
	at := strings.TrimPrefix(host.URL, "http://")
	name, _, _ := strings.Cut(at, ":")
	uri := func(path string) string { return fmt.Sprintf(`"uri":"http://user:word@%s%s"`, at, path) }
	for _, tt := range []struct {
		name, host string
		in         json.RawMessage
		kind       wire.FaultKind
		says       string
	}{
		{"good", at, announce("f", uri("/good"), "hello", ""), "", ""},
		{"a host name without a port", name, announce("f", uri("/good"), "hello", ""), "", ""},
		{"another port", name + ":1", announce("f", uri("/good"), "hello", ""), wire.Usage, "not the endpoint's host"},
		{"another host", "example.org", announce("f", uri("/good"), "hello", ""), wire.Usage, "not the endpoint's host"},
		{"a port without a server", "127.0.0.1:1", announce("f", `"uri":"http://127.0.0.1:1/f"`, "hello", ""), wire.Unreachable, "cannot fetch it: "},
		{"a redirect", at, announce("f", uri("/away"), "hello", ""), wire.Expectation, "302"},
		{"none", at, announce("f", uri("/none"), "hello", ""), wire.Expectation, "404"},
		{"no data", at, announce("f", uri("/silent"), "hello", ""), wire.Timeout, "no data for 200ms"},
		{"a transfer that stops", at, announce("f", uri("/slow"), "hello", ""), wire.Timeout, "no data for 200ms"},
		{"a transfer that is cut", at, announce("f", uri("/short"), "hello", ""), wire.Closed, "the transfer was interrupted: unexpected EOF"},
		{"more data than announced", at, announce("f", uri("/flood"), "hello", ""), wire.Expectation, "more than the announced 5 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := t.TempDir()
			s := &Saver{Dir: out, Hosts: []string{tt.host}}
			if tt.kind == wire.Timeout {
				s.Idle = 200 * time.Millisecond
			}
			judge(t, s.Save(t.Context(), tt.in), tt.kind, tt.says)
			left, _ := os.ReadDir(out)
			if tt.kind == "" != (len(left) == 1) {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	if good.Load() != 2 {
		t.Errorf("requested /good %d times", good.Load())
	}
}

// A peer cannot name a file with control characters, a hidden file, or a file that looks like a flag.
func TestFileNames(t *testing.T) {
	for name, want := range map[string]bool{
		"log.txt": true, "über uns.txt": true, "": false, ".x": false, "-rf": false, "a/b": false, `a\b`: false, "a\x00": false, "a\x1b[2J": false,
		strings.Repeat("a", 200): true, strings.Repeat("a", 201): false, "a\nb": false, "a\tb": false, "a\u009b": false, "a\u202etxt.exe": false, "a\u2066": false, "a\x7f": false, "a\xff": false,
	} {
		if got := isFileName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
