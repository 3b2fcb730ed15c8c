// Command lazyinit changes three vendored libraries so that a binary makes their tables when it
// first needs them, and not at each start, as Go's initialization has it:
//
//   - jsonschema compiles the metaschemas of five drafts, which takes five milliseconds: more than all else
//     that a call does. Each draft's becomes a function that runs once, when a schema of that is first checked.
//   - gojq makes the syntax trees of jq's own functions, a quarter of a millisecond.
//   - golang.org/x/text, by which jsonschema words its errors, makes tables of languages.
//
// It is run in one of two ways:
//
//	lazyinit VENDOR
//	lazyinit --modfile FOLDER
//
// VENDOR is a folder that go mod vendor made, in a copy of the tree: go lets no
// overlay replace files of the module cache. The second form is for what needs
// the tree itself: it leaves in FOLDER, which is absolute, a changed copy of each
// library and a go.mod that has them replace the libraries, to be named by
// -modfile. Both compile to the same packages; a binary that is given away is
// made the first way, since the second leaves the name of FOLDER in it.
//
// A file that is not the one that was looked at for this is an error: then the change
// has to be thought through again for the new version.
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

// A library is a module, and what becomes of its files.
type library struct {
	name    string // of its folder beside a go.mod
	module  string
	patches []patch
}

// libraries are those that are changed.
var libraries = []library{jsonschema, gojq, text}

// A patch is what becomes of one file of a module.
type patch struct {
	file   string
	sha256 string // of the file that the change was made for
	edits  []edit
}

// An edit replaces what stands in a file so many times.
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

// modfile makes changed copies of the libraries in dir, and beside them the go.mod
// of the current folder with lines that replace the libraries by the copies.
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

// dir is where the module cache holds the library.
func (l library) dir() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", l.module).Output()
	return strings.TrimSpace(string(out)), err
}

// copied copies what a build needs of the library, which the module cache holds
// without the right to write.
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

// change replaces the file by its patched text.
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

// apply returns the replaced text of a file.
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
