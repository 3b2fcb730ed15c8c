// Package cache stores data from peers on disk: cacheable answers, discovered catalogs, and words for completion. Read,
// Write and Update are also used for other files that several processes share.
package cache

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
	"rpcx/wire/xdg"
)

// newPrefix begins the names of incomplete files.
const newPrefix = ".new-"

// maxFile is the maximum size, in bytes, of a file that Read accepts.
const maxFile = 64 << 20

func dir() (string, error) {
	d := xdg.Cache()
	if d == "" {
		return "", fmt.Errorf("neither XDG_CACHE_HOME nor HOME names a directory")
	}
	return d, nil
}

// Read returns the content of a file. It returns nil if the file is too large or unreadable.
func Read(file string) []byte {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil || len(b) > maxFile {
		return nil
	}
	return b
}

// Write replaces a file atomically: readers see the old or the new content. Only the user can read the file. Write
// creates missing directories. Unless modified is zero, it becomes the file's modification time.
func Write(file string, b []byte, modified time.Time) error {
	folder := filepath.Dir(file)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, newPrefix+"*") // has mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = cmp.Or(err, f.Close())
	if err == nil && !modified.IsZero() {
		err = os.Chtimes(f.Name(), time.Time{}, modified)
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Update replaces a file's content with the result of change, or removes the file if the result is nil. It ignores
// errors: a cache that fails counts as empty.
func Update(file string, change func(old []byte) []byte) {
	b := change(Read(file))
	if b == nil {
		_ = os.Remove(file)
		return
	}
	_ = Write(file, b, time.Time{})
}

// identity returns values that identify the peer of e: among others its address and user, and the working directory if
// it matters.
func identity(e endpoint.Endpoint) ([]any, error) {
	a := e.Address
	user, path, folder := "", a.Path, ""
	if a.User != nil {
		user = a.User.String()
	}
	var err error
	if path != "" {
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
	}
	if a.Command != nil { // a relative path can mean another program elsewhere
		if folder, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	return []any{e.Dialect, e.Framing, e.Reversed, e.Demo, e.Tape, a.Scheme, user, a.Host, path, a.URLPath, a.Command, folder}, nil
}

// environment returns the variables of a command, because they may affect its answers. It omits those that a shell
// changes for each command. It returns nil if the endpoint has no command.
func environment(e endpoint.Endpoint) []string {
	if e.Address.Command == nil {
		return nil
	}
	vars := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"_", "SHLVL", "PWD", "OLDPWD"}, name)
	})
	slices.Sort(vars)
	return vars
}

// Fingerprint returns a hash of e and everything else that determines a session: the working directory and lists of
// words from the command line.
func Fingerprint(e endpoint.Endpoint, folder string, words ...[]string) string {
	id, err := identity(e)
	if err != nil {
		id = []any{e.String()}
	}
	return digest(append(id, folder, words)...)
}

// digest returns a hash of vals, which are strings and lists of strings.
func digest(vals ...any) string {
	b, _ := scan.Marshal(vals) // never fails for strings
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
