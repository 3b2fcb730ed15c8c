package hook

import (
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"rpcx/wire/catalog"
)

// FromDir returns a hook for each executable file in dir, named for what it
// answers, in the order of their names. Folders, hidden files, files that are
// not executable and editors' copies (NAME~) are passed over. A folder or a file
// that others can write is refused. Errors are usage Faults.
func FromDir(dir string) ([]Entry, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, usage("hooks: %v", err)
	}
	if err := Trusted("hooks", abs); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(abs)
	if err != nil {
		return nil, usage("hooks: %v", err)
	}
	var entries []Entry
	for _, f := range files {
		name, path := f.Name(), filepath.Join(abs, f.Name())
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") {
			continue
		}
		if err := Trusted("hooks", path); err != nil {
			return nil, err
		}
		entries = append(entries, Entry{Pattern: name, Answer: Answer{Kind: Sh, Text: "exec " + quote(path)}})
	}
	if len(entries) == 0 {
		f := usage("hooks: no executable file in %s", dir)
		f.Hint = "chmod +x the files there, or give a catalog file"
		return nil, f
	}
	return entries, nil
}

// Unready returns the names of the scripts in dir, files that begin with "#!",
// that FromDir passes over because they are not executable.
func Unready(dir string) []string {
	files, _ := os.ReadDir(dir)
	var names []string
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 != 0 || strings.HasPrefix(f.Name(), ".") || strings.HasSuffix(f.Name(), "~") {
			continue
		}
		if isScript(filepath.Join(dir, f.Name())) {
			names = append(names, f.Name())
		}
	}
	return names
}

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

// FromFile reads a catalog and returns the hooks that its run members are. A
// file that others can write is refused. Errors are usage Faults.
func FromFile(path string) ([]Entry, *catalog.Catalog, error) {
	if err := Trusted("hooks", path); err != nil {
		return nil, nil, err
	}
	c, err := catalog.Load(path)
	if err != nil {
		return nil, nil, err
	}
	entries, err := FromCatalog(c)
	if err != nil {
		return nil, nil, inside(path, err)
	}
	return entries, c, nil
}

// FromCatalog returns the hooks that the run members of c are. Call it only for
// a catalog that is ours: a file given as hooks, an embedded demo.
func FromCatalog(c *catalog.Catalog) ([]Entry, error) {
	var entries []Entry
	for _, m := range c.Methods {
		if m.Run == "" {
			continue
		}
		a, err := ParseAnswer(m.Run)
		if err != nil {
			return nil, inside("method "+m.Name, err)
		}
		entries = append(entries, Entry{Pattern: m.Name, Answer: a})
	}
	return fromClasses(entries, c.Classes)
}

// fromClasses adds the hooks that the run members inside classes are:
// Class.method for methods and properties, Class.__init__ and Class.__del__ for
// the constructor and the destructor.
func fromClasses(entries []Entry, classes []json.RawMessage) ([]Entry, error) {
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
			continue // it is not like the classes that have hooks
		}
		class.Constructor.Name, class.Destructor.Name = "__init__", "__del__"
		for _, m := range slices.Concat([]member{class.Constructor, class.Destructor}, class.Methods, class.Properties) {
			if m.Run == "" {
				continue
			}
			a, err := ParseAnswer(m.Run)
			if err != nil {
				return nil, inside("method "+class.Name+"."+m.Name, err)
			}
			entries = append(entries, Entry{Pattern: class.Name + "." + m.Name, Answer: a})
		}
	}
	return entries, nil
}

// Trusted refuses what others than its owner can write, and what belongs to
// neither us nor root. what is the word for it in the usage Fault.
func Trusted(what, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return usage("%s: %v", what, err)
	}
	why := "others can write it"
	if info.Mode().Perm()&0o022 == 0 {
		if ours(info) {
			return nil
		}
		why = "it belongs to somebody else"
	}
	f := usage("%s: %s is refused: %s", what, path, why)
	if info.Mode().Perm()&0o022 != 0 {
		f.Hint = "chmod go-w " + quote(path)
	}
	return f
}

// ours reports whether the owner is us or root. Root trusts whom it gave a file
// to.
func ours(info fs.FileInfo) bool {
	uid := os.Geteuid()
	owner, ok := ownerOf(info)
	return !ok || uid == 0 || owner == uid || owner == 0
}

// quote returns s as one word of sh.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// ownerOf returns the user id of a file's owner.
func ownerOf(info fs.FileInfo) (uid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}
