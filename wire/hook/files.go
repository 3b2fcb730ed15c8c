package hook

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/jq"
	"rpcx/wire/transport"
	"rpcx/wire/transport/child"
	"rpcx/wire/trust"
	"rpcx/wire/userfile"
)

func isScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 2)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "#!"
}

// hasCRLF reports whether the command of a is a script whose first line ends with CR LF. The system then looks for an
// interpreter whose name ends with CR.
func (a *Answer) hasCRLF() bool {
	at, err := transport.Parse("exec:" + strings.TrimPrefix(a.Text, "exec "))
	return err == nil && child.HasCRLF(at.Command[0])
}

// FromFile reads a catalog and returns the hooks in its run members. A command that begins with ./ or ../ is relative
// to the directory of the catalog, or to the current one if the catalog is a stream. It refuses a file that other users
// can write. Errors are usage Faults.
func FromFile(path string) ([]Entry, *catalog.Catalog, error) {
	if path != "-" {
		if err := trust.Check("hooks", path); err != nil {
			return nil, nil, err
		}
	}
	c, err := catalog.Load(path)
	if err != nil {
		return nil, nil, err
	}
	entries, err := FromCatalog(c)
	if err != nil {
		return nil, nil, inside(path, err)
	}
	dir := filepath.Dir(path)
	if userfile.IsStream(path) {
		dir = "."
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, nil, wire.Usagef("hooks: %v", err)
	}
	for i := range entries {
		entries[i].Answer = entries[i].Answer.beside(dir)
	}
	return entries, c, nil
}

// beside makes a relative command of a relative to the directory dir.
func (a Answer) beside(dir string) Answer {
	command := a.Kind == Sh || a.Kind == Text || a.Kind == Lines || a.Kind == Co
	if command && (strings.HasPrefix(a.Text, "./") || strings.HasPrefix(a.Text, "../")) {
		a.Text = quote(dir) + "/" + a.Text
	}
	return a
}

// FromCatalog returns the hooks in the run members of c. Call it only for a file that the user gave as hooks.
func FromCatalog(c *catalog.Catalog) ([]Entry, error) { return fromCatalog(c, ParseAnswer) }

// FromDemo is FromCatalog for an embedded demo. Its jq expressions are known to be valid, so that each is compiled only
// when it is first needed.
func FromDemo(c *catalog.Catalog) ([]Entry, error) {
	return fromCatalog(c, func(s string) (Answer, error) {
		text, ok := strings.CutPrefix(s, "jq:")
		if !ok {
			return ParseAnswer(s)
		}
		return Answer{Kind: JQ, Text: text, prog: sync.OnceValue(func() *jq.Program {
			a, err := ParseAnswer(s)
			if err != nil {
				panic(fmt.Sprintf("a demo: %v", err)) // a test ensures that this cannot happen
			}
			return a.prog()
		})}, nil
	})
}

func fromCatalog(c *catalog.Catalog, parse func(string) (Answer, error)) ([]Entry, error) {
	var entries []Entry
	for _, m := range c.Methods {
		if m.Run == "" {
			continue
		}
		a, err := parse(m.Run)
		if err != nil {
			return nil, inside("method "+m.Name, err)
		}
		entries = append(entries, Entry{Pattern: m.Name, Answer: a})
	}
	return fromClasses(entries, c.Classes, parse)
}

// fromClasses adds the hooks in the run members inside classes: Class.method for
// methods and properties, Class.__init__ and Class.__del__ for the constructor and
// the destructor.
func fromClasses(entries []Entry, classes []json.RawMessage, parse func(string) (Answer, error)) ([]Entry, error) {
	type member struct {
		Name string `json:"name"`
		Run  string `json:"run"`
	}
	for _, raw := range classes {
		var class struct {
			Name        string   `json:"name"`
			Constructor member   `json:"constructor"`
			Destructor  member   `json:"destructor"`
			Methods     []member `json:"methods"`
			Properties  []member `json:"properties"`
		}
		if err := json.Unmarshal(raw, &class); err != nil {
			continue // its form is not that of a class with hooks
		}
		class.Constructor.Name, class.Destructor.Name = "__init__", "__del__"
		for _, m := range slices.Concat([]member{class.Constructor, class.Destructor}, class.Methods, class.Properties) {
			if m.Run == "" {
				continue
			}
			a, err := parse(m.Run)
			if err != nil {
				return nil, inside("method "+class.Name+"."+m.Name, err)
			}
			entries = append(entries, Entry{Pattern: class.Name + "." + m.Name, Answer: a})
		}
	}
	return entries, nil
}

// quote returns s as one word of sh.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
