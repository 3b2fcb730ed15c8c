// Command lazyschema changes a vendored jsonschema so that a binary compiles the
// metaschemas of JSON Schema when it first makes a schema, and not at each start:
// that takes five milliseconds, which is more than all else that a call does
// before it connects, and most calls make no schema.
//
//	lazyschema VENDOR
//	lazyschema --modfile FOLDER
//
// VENDOR is a folder that go mod vendor made, in a copy of the tree: go lets no
// overlay replace files of the module cache. The second form is for what needs
// the tree itself: it leaves in FOLDER, which is absolute, a changed copy of the
// library and a go.mod that has it replace the library, to be named by
// -modfile. Both compile to the same packages; a binary that is given away is
// made the first way, since the second leaves the name of FOLDER in it.
//
// Two places change: the library's init becomes a function that runs once, and
// NewCompiler calls it. A file that is not the one that was looked at for this
// is an error: then the change has to be thought through again for the new
// version.
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

const module = "github.com/santhosh-tekuri/jsonschema/v6"

// A patch is what becomes of one file of the module.
type patch struct {
	file   string
	sha256 string // of the file that the change was made for
	old    string // stands in it once
	new    string
}

var patches = []patch{
	{
		file:   "draft.go",
		sha256: "bb436dc7f6070066e621cb1bb4b0da0a7e1fdf09e8563443885713cda2cf7dd2",
		old:    "func init() {\n\tc := NewCompiler()\n",
		new: "var loadMetaschemas = sync.OnceFunc(compileMetaschemas)\n\n" +
			"func compileMetaschemas() {\n\tc := newCompiler()\n",
	},
	{
		file:   "compiler.go",
		sha256: "70866caca3a796301c74dfb2a963d53809c0b94c3dcbcc7f8ac5f8f480856b76",
		old:    "func NewCompiler() *Compiler {\n",
		new: "func NewCompiler() *Compiler {\n\tloadMetaschemas()\n\treturn newCompiler()\n}\n\n" +
			"func newCompiler() *Compiler {\n",
	},
}

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 1:
		err = change(filepath.Join(args[0], filepath.FromSlash(module)))
	case len(args) == 2 && args[0] == "--modfile":
		err = modfile(args[1])
	default:
		fmt.Fprintln(os.Stderr, "usage: lazyschema VENDOR, or lazyschema --modfile FOLDER")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lazyschema:", err)
		os.Exit(1)
	}
}

// change patches the library in dir.
func change(dir string) error {
	for _, p := range patches {
		if err := p.change(filepath.Join(dir, p.file)); err != nil {
			return err
		}
	}
	return nil
}

// modfile makes a changed copy of the library in dir, and beside it the go.mod
// of the current folder with a line that replaces the library by the copy.
func modfile(dir string) error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return err
	}
	library := filepath.Join(dir, "jsonschema")
	if err := copied(strings.TrimSpace(string(out)), library); err != nil {
		return err
	}
	if err := change(library); err != nil {
		return err
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		return err
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	mod = fmt.Appendf(mod, "\nreplace %s => %q\n", module, library)
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600),
		os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o600),
	)
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
		return "", fmt.Errorf("%s of %s is not the file that this change was made for: look at it again", p.file, module)
	}
	text := strings.Replace(string(b), p.old, p.new, 1)
	if strings.Contains(p.new, "sync.") {
		text = strings.Replace(text, "import (\n", "import (\n\t\"sync\"\n", 1)
	}
	return text, nil
}
