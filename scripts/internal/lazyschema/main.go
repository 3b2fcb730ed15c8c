// Command lazyschema changes a vendored jsonschema so that a binary compiles the
// metaschemas of JSON Schema when it first makes a schema, and not at each start:
// that takes five milliseconds, which is more than all else that a call does
// before it connects, and most calls make no schema.
//
//	lazyschema VENDOR
//
// VENDOR is a folder that go mod vendor made, in a copy of the tree: go lets no
// overlay replace files of the module cache. Two places change: the library's
// init becomes a function that runs once, and NewCompiler calls it. A file that
// is not the one that was looked at for this is an error: then the change has to
// be thought through again for the new version.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
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
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: lazyschema VENDOR")
		os.Exit(2)
	}
	for _, p := range patches {
		if err := p.change(filepath.Join(os.Args[1], filepath.FromSlash(module), p.file)); err != nil {
			fmt.Fprintln(os.Stderr, "lazyschema:", err)
			os.Exit(1)
		}
	}
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
