// Command gen generates the files in man/ and completions/, and the marked blocks in README.md, from the command tree and the test
// scripts.
//
//	scripts/gen [--check]
//
// With --check, it writes no files, prints the names of the stale ones, and exits with 1 if there are any.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rpcx/commands"
	"rpcx/commands/cmdline"
	"rpcx/commands/complete"
)

func main() {
	check := len(os.Args) == 2 && os.Args[1] == "--check"
	if len(os.Args) > 1 && !check {
		fmt.Fprintln(os.Stderr, "usage: scripts/gen [--check]")
		os.Exit(2)
	}
	if err := run(check); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run generates all files, and writes those that have changed. If check is true, it only reports them.
func run(check bool) error {
	files, err := generate()
	if err != nil {
		return err
	}
	stale := false
	for _, f := range files {
		old, err := os.ReadFile(f.name)
		if err == nil && bytes.Equal(old, f.text) {
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if check {
			fmt.Fprintf(os.Stderr, "gen: %s is stale\n", f.name)
			stale = true
			continue
		}
		if err := os.MkdirAll(filepath.Dir(f.name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(f.name, f.text, 0o644); err != nil {
			return err
		}
		fmt.Println(f.name)
	}
	gone, err := leftovers(files)
	if err != nil {
		return err
	}
	for _, name := range gone {
		if check {
			fmt.Fprintf(os.Stderr, "gen: nothing makes %s\n", name)
			stale = true
		} else if err := os.Remove(name); err != nil {
			return err
		}
	}
	if stale {
		return errors.New("run scripts/gen and commit what it writes")
	}
	return nil
}

// leftovers returns the manual pages whose command or topic no longer exists.
func leftovers(files []file) ([]string, error) {
	pages, err := filepath.Glob("man/*")
	return slices.DeleteFunc(pages, func(name string) bool {
		return slices.ContainsFunc(files, func(f file) bool { return f.name == filepath.ToSlash(name) })
	}), err
}

type file struct {
	name string
	text []byte
}

// generate generates all files of the repository.
func generate() ([]file, error) {
	root := commands.Tree()
	examples, err := readExamples("commands/testdata/script")
	if err != nil {
		return nil, err
	}
	readme, err := os.ReadFile("README.md")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	files := []file{
		{"man/rpcx.1", manual(root, cmdline.ExitStatuses(), examples, shownIn(readme))},
		{"completions/rpcx.bash", complete.Script("bash")},
		{"completions/_rpcx", complete.Script("zsh")},
		{"completions/rpcx.fish", complete.Script("fish")},
		{"completions/rpcx.ps1", complete.Script("powershell")},
	}
	drawing, err := picture()
	if err != nil {
		return nil, err
	}
	files = append(files, file{"man/terminal.svg", drawing})
	files = append(files, commandPages(root)...)
	files = append(files, topicPages(root, examples)...)
	if readme == nil {
		return files, nil
	}
	text, err := fillBlocks(readme, root, cmdline.ExitStatuses(), examples)
	if err != nil {
		return nil, err
	}
	return append(files, file{"README.md", text}), nil
}
