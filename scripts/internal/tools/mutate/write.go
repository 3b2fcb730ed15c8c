package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// switches is the source of the package with the switches of all changes. The linker sets the name of a file in each binary. The
// file has the number of the active change, or "trace", with which the binary appends the number of each switch that it reaches to
// FILE.reached.
const switches = `// Package mutant has the switches of the changes that are tried.
package mutant

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
)

var file string

type FileMode = fs.FileMode

var (
	active int
	traced *os.File
	seen   sync.Map
)

var _ = func() int {
	b, _ := os.ReadFile(file)
	text := strings.TrimSpace(string(b))
	if text == "trace" {
		traced, _ = os.OpenFile(file+".reached", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	}
	active, _ = strconv.Atoi(text)
	return active
}()

func On(id int) bool {
	if traced != nil {
		if _, old := seen.LoadOrStore(id, true); !old {
			traced.WriteString(strconv.Itoa(id) + "\n")
		}
	}
	return active == id
}

func Pick[T any](id int, usual, other T) T {
	if On(id) {
		return other
	}
	return usual
}

func Nil(id int, err error) error {
	if On(id) {
		return nil
	}
	return err
}
`

// A built has the test binaries with all changes. Each job has its own set.
type built struct {
	folder   string
	packages []*source // packages that have tests
	changes  []*mutant // changes that compile
}

// build writes the changed files outside the tree, and compiles the tests with an overlay of these files.
func build(folder string, packages []*source, chosen []*mutant, jobs int) (*built, error) {
	b := &built{folder: folder, changes: chosen}
	for _, p := range packages {
		if p.tested {
			b.packages = append(b.packages, p)
		}
	}
	for {
		files, err := b.write()
		if err != nil {
			return nil, err
		}
		out, err := b.compiler("build", "./...").CombinedOutput()
		if err == nil {
			break
		}
		if !b.without(string(out), files) {
			return nil, fmt.Errorf("%w\n%s", err, out)
		}
	}
	return b, b.compile(jobs)
}

// write writes the changed files, and an overlay in which they replace the originals. It returns the original of each changed file.
func (b *built) write() (files map[string]string, err error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	replace := map[string]string{filepath.Join(here, "wire", "mutant", "mutant.go"): filepath.Join(b.folder, "mutant.go")}
	if err := os.WriteFile(filepath.Join(b.folder, "mutant.go"), []byte(switches), 0o600); err != nil {
		return nil, err
	}
	mutants := map[string][]*mutant{}
	for _, m := range b.changes {
		mutants[m.file] = append(mutants[m.file], m)
	}
	files = map[string]string{}
	for name, those := range mutants {
		text, err := changed(name, those)
		if err != nil {
			return nil, err
		}
		short := fmt.Sprintf("changed-%d.go", len(files))
		files[short], replace[name] = name, filepath.Join(b.folder, short)
		if err := os.WriteFile(replace[name], []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	return files, os.WriteFile(filepath.Join(b.folder, "overlay.json"), overlay, 0o600)
}

var complaint = regexp.MustCompile(`(changed-\d+\.go):(\d+)`)

// without removes the changes for which the compiler reports errors. It returns false if there are none.
func (b *built) without(output string, files map[string]string) bool {
	bad := map[string]bool{}
	for _, m := range complaint.FindAllStringSubmatch(output, -1) {
		bad[files[m[1]]+":"+m[2]] = true
	}
	before := len(b.changes)
	b.changes = slices.DeleteFunc(b.changes, func(m *mutant) bool {
		_, line, _ := strings.Cut(m.place, ":")
		if !bad[m.file+":"+line] {
			return false
		}
		say("does not compile: %v", m)
		return true
	})
	return len(b.changes) < before
}

func (b *built) compiler(command string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", append([]string{command, "-overlay", filepath.Join(b.folder, "overlay.json")}, args...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return cmd
}

// changed returns the text of a file with its changes, which keep the line numbers.
func changed(name string, mutants []*mutant) (string, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	last := 0
	for _, m := range mutants {
		id := fmt.Sprint(m.id)
		out.Write(b[last:m.start])
		out.WriteString(m.with("mutant.On("+id+")", id))
		last = m.end
	}
	out.Write(b[last:])
	text := out.String()
	clause := strings.Index("\n"+text, "\npackage ")
	line := clause + strings.Index(text[clause:], "\n")
	return text[:line] + `; import "rpcx/wire/mutant"` + text[line:], nil
}

// compile links the tests of each package once. The copies for other jobs differ only in the name of the file that selects the change.
func (b *built) compile(jobs int) error {
	var mu sync.Mutex
	var failed error
	each(2, b.packages, func(_ int, p *source) {
		err := b.link(p)
		for job := 1; job < jobs && err == nil; job++ {
			err = b.copy(p, job)
		}
		if err != nil {
			mu.Lock()
			failed = err
			mu.Unlock()
		}
	})
	return failed
}

func (b *built) link(p *source) error {
	cmd := b.compiler("test", "-c", "-vet=off", "-ldflags", "-w -X rpcx/wire/mutant.file="+b.active(0), "-o", b.binary(p, 0), p.path)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", p.path, err, out)
	}
	return nil
}

func (b *built) copy(p *source, job int) error {
	text, err := os.ReadFile(b.binary(p, 0))
	if err != nil {
		return err
	}
	return os.WriteFile(b.binary(p, job), bytes.ReplaceAll(text, []byte(b.active(0)), []byte(b.active(job))), 0o700)
}

// active returns the file that selects the change for a job's binaries.
func (b *built) active(job int) string {
	return filepath.Join(b.folder, fmt.Sprintf("active-%03d", job))
}

func (b *built) binary(p *source, job int) string {
	return filepath.Join(b.folder, fmt.Sprintf("%s-%d.test", strings.ReplaceAll(p.path, "/", "."), job))
}
