// Package userfile reads the files that a user names.
package userfile

import (
	"bytes"
	"io"
	"os"
	"sync"
)

// kept has the content of files that can be read only once, by name.
var kept = struct {
	sync.Mutex
	content map[string][]byte
}{content: map[string][]byte{}}

// Read returns the content of a file; "-" is stdin. It keeps the content of a stream, because several parts of a
// command may read the same one.
func Read(name string) ([]byte, error) {
	if !IsStream(name) {
		return os.ReadFile(name)
	}
	kept.Lock()
	defer kept.Unlock()
	if b, ok := kept.content[name]; ok {
		return b, nil
	}
	b, err := read(name)
	if err == nil {
		kept.content[name] = b
	}
	return b, err
}

func read(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}

// Open opens a file, and keeps a stream like Read.
func Open(name string) (io.ReadCloser, error) {
	if !IsStream(name) {
		return os.Open(name)
	}
	b, err := Read(name)
	return io.NopCloser(bytes.NewReader(b)), err
}

// Kept returns the part of a stream that Read has kept, or nil if there is none.
func Kept(name string) []byte {
	kept.Lock()
	defer kept.Unlock()
	return kept.content[name]
}

// IsStream reports whether a file can be read only once: stdin, a FIFO, a process substitution.
func IsStream(name string) bool {
	if name == "-" {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// mark is the byte order mark of UTF-8, with which some editors begin a file.
var mark = []byte("\ufeff")

// Unmarked returns b without a byte order mark at its start.
func Unmarked(b []byte) []byte { return bytes.TrimPrefix(b, mark) }
