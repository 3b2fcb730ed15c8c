// Package userfile reads the files that a user names.
package userfile

import (
	"bytes"
	"io"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
)

// kept has the content of files that can be read only once, by name.
var kept = struct {
	sync.Mutex
	content map[string][]byte
}{content: map[string][]byte{}}

// Read returns the content of a file, or of stdin if name is "-". It stores the content of a stream, because several
// parts of a command may read it.
func Read(name string) ([]byte, error) {
	if !IsStream(name) {
		return os.ReadFile(name)
	}
	kept.Lock()
	defer kept.Unlock()
	if b, ok := kept.content[name]; ok {
		return b, nil
	}
	read := os.ReadFile
	if name == "-" {
		read = func(string) ([]byte, error) { return io.ReadAll(os.Stdin) }
	}
	b, err := read(name)
	if err == nil {
		kept.content[name] = b
	}
	return b, err
}

// Open opens a file. It stores the content of a stream, as Read does.
func Open(name string) (io.ReadCloser, error) {
	if !IsStream(name) {
		return os.Open(name)
	}
	b, err := Read(name)
	return io.NopCloser(bytes.NewReader(b)), err
}

// Kept returns the stored content of a stream, or nil.
func Kept(name string) []byte {
	kept.Lock()
	defer kept.Unlock()
	return kept.content[name]
}

// Keep stores the content of files that another process has read for this one.
func Keep(content map[string][]byte) {
	kept.Lock()
	defer kept.Unlock()
	maps.Copy(kept.content, content)
}

// IsInherited reports whether name is stdin or a descriptor that only this process can open, such as that of a process
// substitution.
func IsInherited(name string) bool {
	number, ok := strings.CutPrefix(strings.Replace(name, "/proc/self/", "/dev/", 1), "/dev/fd/")
	_, err := strconv.Atoi(number)
	return name == "-" || ok && err == nil
}

// IsStream reports whether a file can be read only once: stdin, a FIFO or a process substitution.
func IsStream(name string) bool {
	if name == "-" || Kept(name) != nil {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// mark is UTF-8's byte order mark, which some editors write at the start of a file.
var mark = []byte("\ufeff")

// Unmarked returns b without a byte order mark at the start.
func Unmarked(b []byte) []byte { return bytes.TrimPrefix(b, mark) }
