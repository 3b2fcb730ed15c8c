package hotrepl

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"mime"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"rpcx/wire/scratch"
)

// artifacts is where hooks write files for clients: a folder for each command,
// inside one that is the user's, or else ours and gone with the host.
type artifacts struct {
	dir string // given; "": one of ours, made when first needed

	mu   sync.Mutex
	ours *scratch.Dir // nil: not made yet
}

// unsafe is what an id is reduced by before it becomes a folder's name.
var unsafe = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9._-]+`) })

// folder makes a fresh folder for what a command with that id writes.
func (a *artifacts) folder(id string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	base := a.dir
	if base == "" && a.ours == nil {
		dir, err := scratch.Make("artifacts")
		if err != nil {
			return "", err
		}
		a.ours = dir
	}
	if base == "" {
		base = a.ours.Path
	}
	name := unsafe().ReplaceAllString(id, "")
	if len(name) > 40 {
		name = name[:40]
	}
	dir, err := os.MkdirTemp(base, "a-"+name+"-")
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

// collect tells of the files in a folder, as messages do. A folder without any
// goes.
func (a *artifacts) collect(dir string) (json.RawMessage, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return json.RawMessage("{}"), os.Remove(dir)
	}
	b := build("")
	for _, f := range files {
		if !f.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, f.Name())
		sum, size, err := digest(path)
		if err != nil {
			return nil, err
		}
		kind := mime.TypeByExtension(filepath.Ext(path))
		if kind == "" {
			kind = "application/octet-stream"
		}
		b = b.raw(f.Name(), build("").text("uri", (&url.URL{Scheme: "file", Path: path}).String()).text("path", path).
			text("sha256", sum).int("byteSize", int(size)).text("contentType", kind).bool("finalized", true).end())
	}
	return b.end(), nil
}

func digest(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// close removes the folder that is ours.
func (a *artifacts) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ours == nil {
		return nil
	}
	return a.ours.Remove()
}
