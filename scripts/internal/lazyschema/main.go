// Command lazyschema changes a vendored jsonschema so that a binary compiles the
// metaschemas of a draft of JSON Schema when it first checks a schema of that, and not at each start:
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
// The library's init compiles the metaschemas of five drafts. Each becomes a function that
// runs once, when a schema of that draft is first checked. A file that is not the one that was looked at for this
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
	edits  []edit
}

// An edit replaces what stands in a file once.
type edit struct{ old, new string }

var patches = []patch{
	{
		file:   "draft.go",
		sha256: "bb436dc7f6070066e621cb1bb4b0da0a7e1fdf09e8563443885713cda2cf7dd2",
		edits: []edit{
			{"import (\n", "import (\n\t\"sync\"\n"},
			{"\tsch           *Schema\n", "\tload          func() (*Schema, map[string]*Schema) // those of url and of allVocabs; a copy of a Draft has them, too\n"},
			{
				"func init() {\n\tc := NewCompiler()\n\tc.AssertFormat()\n\tfor _, d := range []*Draft{Draft4, Draft6, Draft7, Draft2019, Draft2020} {\n\t\td.sch = c.MustCompile(d.url)\n",
				"func init() {\n\tfor _, d := range []*Draft{Draft4, Draft6, Draft7, Draft2019, Draft2020} {\n\t\td.load = sync.OnceValues(d.compile)\n\t}\n}\n\n" +
					"func (d *Draft) compile() (sch *Schema, vocabs map[string]*Schema) {\n\tc := NewCompiler()\n\tc.roots.loading = true\n\tc.AssertFormat()\n\t{\n\t\tsch, vocabs = c.MustCompile(d.url), map[string]*Schema{}\n",
			},
			{
				"\t\t\td.allVocabs[name] = c.MustCompile(strings.TrimSuffix(d.url, \"schema\") + \"meta/\" + name)\n\t\t}\n\t}\n",
				"\t\t\tvocabs[name] = c.MustCompile(strings.TrimSuffix(d.url, \"schema\") + \"meta/\" + name)\n\t\t}\n\t}\n\treturn sch, vocabs\n",
			},
			{"vocabularies map[string]*Vocabulary) *Schema {\n\tvocabs :=", "vocabularies map[string]*Vocabulary) *Schema {\n\tdraftSchema, vocabSchemas := d.draft.load()\n\tvocabs :="},
			{"\t\treturn d.draft.sch\n", "\t\treturn draftSchema\n"},
			{"sch := d.draft.allVocabs[vocab]", "sch := vocabSchemas[vocab]"},
			{"sch := d.draft.allVocabs[\"core\"]", "sch := vocabSchemas[\"core\"]"},
			{"\t\t\tsch = d.draft.sch\n", "\t\t\tsch = draftSchema\n"},
		},
	},
	{
		file:   "roots.go",
		sha256: "6e84cb61bbb143e334c5c587295064bac0eeadecec73c4e5685aaa67d461bdc2",
		edits: []edit{
			{"type roots struct {\n", "type roots struct {\n\tloading      bool // a metaschema, which is known to be right\n"},
			{"ptr jsonPointer) error {\n\tdialect := r.resource(ptr).dialect\n", "ptr jsonPointer) error {\n\tif rr.loading {\n\t\treturn nil\n\t}\n\tdialect := r.resource(ptr).dialect\n"},
		},
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
	text := string(b)
	for _, e := range p.edits {
		if strings.Count(text, e.old) != 1 {
			return "", fmt.Errorf("%s of %s does not have once what is to be changed: %q", p.file, module, e.old)
		}
		text = strings.Replace(text, e.old, e.new, 1)
	}
	return text, nil
}
