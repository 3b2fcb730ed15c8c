package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/profile"
	"rpcx/wire/scan"
	"rpcx/wire/transport"
)

// A Cached is an answer that is kept on disk.
type Cached struct {
	Raw    json.RawMessage // the message, as it came
	At     time.Time       // when it came
	MaxAge time.Duration
}

// Age is how old it is.
func (c *Cached) Age() time.Duration { return time.Since(c.At) }

// Answers says whose answers a conversation gets: those of one peer, to one who
// asks. The zero value says nothing.
type Answers struct {
	Of      string `json:"of,omitempty"`      // tells them from all others
	Private bool   `json:"private,omitempty"` // the peer is told who asks
}

// AnswersOf are those of e, asked by that identity ("" for none) over a
// connection that is trusted for that reason. For an endpoint that does not say
// which peer it leads to, and for what another process holds, it is zero.
func AnswersOf(e endpoint.Endpoint, identity, trust string) Answers {
	if e.Socket != "" || e.Address.Scheme == "stdio" || e.Address.Scheme == "ipc" && len(e.Address.Command) == 0 {
		return Answers{}
	}
	a := e.Address
	user := ""
	if a.User != nil {
		user = a.User.String()
	}
	return Answers{
		Of: digest(
			e.Dialect, e.Framing, e.Demo, a.Scheme, user, a.Host, a.Path, a.URLPath, a.Command, workingFolder(a), identity, trust,
		),
		Private: identity != "",
	}
}

// Answers are those of the conversation; zero where the process that holds it does
// not say.
func (r *Client) Answers() Answers {
	if r == nil {
		return Answers{}
	}
	return r.hello.Answers
}

// At is the key of what was asked.
func (a Answers) At(asked json.RawMessage) string { return digest(a.Of, string(asked)) }

// digest tells vals from others.
func digest(vals ...any) string {
	b, _ := json.Marshal(vals) // strings, all of them
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// workingFolder counts where a command is run and where a path leads from:
// another folder, another peer.
func workingFolder(a transport.Address) string {
	if a.Command == nil && (a.Path == "" || filepath.IsAbs(a.Path)) {
		return ""
	}
	dir, _ := os.Getwd()
	return dir
}

// cacheDir is the folder below which we keep what peers said: in $XDG_CACHE_HOME,
// else where the system has its caches.
func cacheDir() (string, error) {
	usual := []string{".cache"}
	if runtime.GOOS == "darwin" {
		usual = []string{"Library", "Caches"}
	}
	dir := profile.XDG("XDG_CACHE_HOME", usual...)
	if dir == "" {
		return "", fmt.Errorf("neither XDG_CACHE_HOME nor HOME names a folder")
	}
	return dir, nil
}

// cacheFile is where the answer of a key is kept.
func cacheFile(key string) (string, error) {
	dir, err := cacheDir()
	return filepath.Join(dir, "answers", key+".json"), err
}

// CacheGet is the answer of a key that is not too old; nil for none.
func CacheGet(key string) *Cached {
	path, err := cacheFile(key)
	if err != nil {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var c struct {
		At     int64           `json:"at"`
		MaxAge float64         `json:"max_age"`
		Msg    json.RawMessage `json:"msg"`
	}
	if json.Unmarshal(b, &c) != nil || scan.Type(c.Msg) != 'o' {
		return nil
	}
	got := &Cached{Raw: c.Msg, At: time.UnixMilli(c.At), MaxAge: time.Duration(c.MaxAge * float64(time.Second))}
	if age := got.Age(); age < 0 || age >= got.MaxAge {
		return nil
	}
	return got
}

// CachePut keeps an answer, in a file that nobody else can read, and drops what
// has become too old.
func CachePut(key string, c Cached) error {
	path, err := cacheFile(key)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	dropOld(dir)
	f, err := os.CreateTemp(dir, "new-*") // 0600
	if err != nil {
		return err
	}
	line := fmt.Appendf(nil, `{"at":%d,"max_age":%g,"msg":`, c.At.UnixMilli(), c.MaxAge.Seconds())
	_, err = f.Write(append(scan.Compact(line, c.Raw), "}\n"...))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil { // the time of a file is when it is of no more use
		err = os.Chtimes(f.Name(), time.Time{}, c.At.Add(c.MaxAge))
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// dropOld drops the answers in dir that are too old.
func dropOld(dir string) {
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		info, err := f.Info()
		if err == nil && info.ModTime().Before(time.Now()) && !strings.HasPrefix(f.Name(), "new-") {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}

// Message is the answer as it came.
func (c *Cached) Message() wire.Message {
	return wire.Message{Kind: wire.Response, Final: true, Raw: c.Raw, Body: scan.Get(c.Raw, "result")}
}
