package scratch

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"rpcx/wire"
)

// A File is a temporary file without a name, so that it disappears with the
// process, however that ends. On systems where an open file must have a name,
// it is removed when it is closed.
type File struct{ *os.File }

// NewFile creates a File in the system's directory for temporary files.
func NewFile() (*File, error) {
	f, err := os.CreateTemp("", "rpcx-")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name())
	return &File{f}, nil
}

// Close closes the file, which then disappears.
func (f *File) Close() error {
	err := f.File.Close()
	if removed := os.Remove(f.Name()); removed != nil && !errors.Is(removed, os.ErrNotExist) {
		return removed
	}
	return err
}

// A Log is a list of byte strings that only grows, of which 8 bytes each are in memory, and what
// was added last: the rest is in a File. The zero value is empty. It is not safe for concurrent
// use.
type Log struct {
	ends  []int64 // where each ends
	tail  []byte  // what is not in the file yet
	wrote int64   // the bytes in the file
	file  *File
	err   error
}

// logTail is how many bytes of a Log stay in memory.
const logTail = 64 << 10

// Len returns how many there are.
func (l *Log) Len() int { return len(l.ends) }

// Add adds a copy of b and returns its number.
func (l *Log) Add(b []byte) int {
	l.tail = append(l.tail, b...)
	l.ends = append(l.ends, l.wrote+int64(len(l.tail)))
	if len(l.tail) > logTail {
		l.flush()
	}
	return len(l.ends) - 1
}

func (l *Log) flush() {
	if l.file == nil {
		f, err := NewFile()
		if err != nil {
			l.fail(err)
			return
		}
		l.file = f
	}
	if _, err := l.file.WriteAt(l.tail, l.wrote); err != nil {
		l.fail(err)
		return
	}
	l.wrote += int64(len(l.tail))
	if l.tail = l.tail[:0]; cap(l.tail) > 4*logTail {
		l.tail = nil
	}
}

// Get returns a copy of number n.
func (l *Log) Get(n int) []byte {
	from := int64(0)
	if n > 0 {
		from = l.ends[n-1]
	}
	b := make([]byte, l.ends[n]-from)
	if from >= l.wrote {
		copy(b, l.tail[from-l.wrote:])
	} else if _, err := l.file.ReadAt(b, from); err != nil && err != io.EOF {
		l.fail(err)
	}
	return b
}

func (l *Log) fail(err error) {
	l.err = cmp.Or(l.err, error(wire.NewFault(wire.IO, fmt.Sprintf("what does not fit into memory, in %s: %v", os.TempDir(), err), err)))
}

// Err returns the first error of the file, a Fault of kind IO. What Get returned after it is not
// reliable.
func (l *Log) Err() error { return l.err }

// Close closes the list and its file.
func (l *Log) Close() error {
	var err error
	if l.file != nil {
		err = l.file.Close()
	}
	*l = Log{err: l.err}
	return err
}
