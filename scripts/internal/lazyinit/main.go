// Command lazyinit changes three libraries so that they build their tables at the first use, instead of at each start in init
// functions:
//
//   - jsonschema compiles the metaschemas of five drafts, which takes five milliseconds, longer than the rest of a call. The changed
//     library compiles the metaschemas of a draft when it first checks a schema of that draft.
//   - gojq builds the syntax trees of jq's own functions, which takes a quarter of a millisecond.
//   - golang.org/x/text, which jsonschema uses for its error messages, builds tables of languages.
//
// It has two forms:
//
//	lazyinit VENDOR
//	lazyinit --modfile FOLDER
//
// VENDOR is a directory that go mod vendor has created in a copy of the tree, because go's overlays cannot replace files in the module
// cache. The second form is for builds that need the tree itself. To FOLDER, an absolute path, it writes a changed copy of each library
// and a go.mod that replaces the libraries by these copies, for go's flag -modfile. Both forms compile the same packages. Published
// binaries need the first form, because the second writes the name of FOLDER into the binary.
//
// If a library file has another SHA-256 sum, lazyinit fails: a developer must check the change against the new version.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A library is a module with the patches for its files.
type library struct {
	name    string // name of its directory next to a go.mod
	module  string
	patches []patch
}

// libraries lists the modules to change.
var libraries = []library{jsonschema, gojq, text}

// A patch contains the edits of one file.
type patch struct {
	file   string
	sha256 string // sum of the file for which the edits were written
	edits  []edit
}

// An edit replaces old, which must occur exactly times times, by new.
type edit struct {
	times    int
	old, new string
}

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 1:
		err = vendored(args[0])
	case len(args) == 2 && args[0] == "--modfile":
		err = modfile(args[1])
	default:
		fmt.Fprintln(os.Stderr, "usage: lazyinit VENDOR, or lazyinit --modfile FOLDER")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lazyinit:", err)
		os.Exit(1)
	}
}

// vendored changes the libraries in dir.
func vendored(dir string) error {
	for _, l := range libraries {
		if err := l.change(filepath.Join(dir, filepath.FromSlash(l.module))); err != nil {
			return err
		}
	}
	return nil
}

// change patches the library in dir.
func (l library) change(dir string) error {
	for _, p := range l.patches {
		if err := p.change(filepath.Join(dir, filepath.FromSlash(p.file))); err != nil {
			return fmt.Errorf("%s: %w", l.module, err)
		}
	}
	return nil
}

// modfile writes to dir changed copies of the libraries, and the current directory's go.mod with replace lines for the copies.
func modfile(dir string) error {
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		return err
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	for _, l := range libraries {
		from, err := l.dir()
		if err != nil {
			return err
		}
		to := filepath.Join(dir, l.name)
		if err := errors.Join(copied(from, to), l.change(to)); err != nil {
			return err
		}
		mod = fmt.Appendf(mod, "\nreplace %s => %q\n", l.module, to)
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600),
		os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o600),
	)
}

// dir returns the library's directory in the module cache.
func (l library) dir() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", l.module).Output()
	return strings.TrimSpace(string(out)), err
}

// copied copies those files of the library that a build needs. Unlike files in the module cache, the copies are writable.
func copied(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "go.work"):
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), b, 0o600)
	})
}

func (p patch) change(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := p.apply(b)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o600)
}

func (p patch) apply(b []byte) (string, error) {
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != p.sha256 {
		return "", fmt.Errorf("%s is not the file that this change was made for: look at it again", p.file)
	}
	text := string(b)
	for _, e := range p.edits {
		if n := strings.Count(text, e.old); n != e.times {
			return "", fmt.Errorf("%s has %d times, not %d, what is to be changed: %q", p.file, n, e.times, e.old)
		}
		text = strings.ReplaceAll(text, e.old, e.new)
	}
	return text, nil
}
