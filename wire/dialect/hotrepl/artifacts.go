package hotrepl

import (
	"cmp"
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

// artifacts makes a directory for each command, in which the command's hook writes files for the client. The
// directories are below the user's directory, or below a temporary directory that Close of the host removes.
type artifacts struct {
	dir       string // the user's directory, or "" for a temporary one
	temporary scratch.Dir
}

// unsafeChars matches the characters of a command's id that a directory name must not contain.
var unsafeChars = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9._-]+`) })

// makeDir makes the directory for the artifacts of the command id, and returns its absolute path.
func (a *artifacts) makeDir(id string) (dir string, err error) {
	base := a.dir
	if base == "" {
		if base, err = a.temporary.Path(); err != nil {
			return "", err
		}
	}
	name := unsafeChars().ReplaceAllString(id, "")
	if dir, err = os.MkdirTemp(base, "a-"+name[:min(len(name), 40)]+"-"); err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

// collect returns the artifacts member of a command_result or job_result: the regular files in dir, with their sizes
// and checksums. It removes an empty directory.
func collect(dir string) (json.RawMessage, error) {
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
		kind := cmp.Or(mime.TypeByExtension(filepath.Ext(path)), "application/octet-stream")
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
