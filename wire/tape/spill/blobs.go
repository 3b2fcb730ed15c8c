package spill

import (
	"cmp"
	"encoding/binary"
	"io"
)

// Blobs is a list of texts that only grows. What was added last stays in memory, the rest
// is in a temporary file. The zero value is empty. It is not safe for concurrent use.
type Blobs struct {
	ends  *Records // where each ends
	tail  []byte   // what is not in the file yet
	wrote int64    // the bytes in the file
	file  *File
	err   error
}

const tailBytes = 64 << 10 // so much of Blobs stays in memory

// Len returns how many there are.
func (l *Blobs) Len() int {
	if l.ends == nil {
		return 0
	}
	return l.ends.Len()
}

// Add adds a copy of b and returns its number.
func (l *Blobs) Add(b []byte) int {
	if l.ends == nil {
		l.ends = NewRecords(8)
	}
	l.tail = append(l.tail, b...)
	n := l.ends.Len()
	var end [8]byte
	binary.LittleEndian.PutUint64(end[:], uint64(l.wrote)+uint64(len(l.tail)))
	l.ends.Set(n, end[:])
	if len(l.tail) > tailBytes {
		l.flush()
	}
	return n
}

func (l *Blobs) flush() {
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
	if l.tail = l.tail[:0]; cap(l.tail) > 4*tailBytes {
		l.tail = nil
	}
}

// Get returns a copy of text n.
func (l *Blobs) Get(n int) []byte {
	from, to := int64(0), l.end(n)
	if n > 0 {
		from = l.end(n - 1)
	}
	b := make([]byte, to-from)
	if from >= l.wrote {
		copy(b, l.tail[from-l.wrote:])
		return b
	}
	if _, err := l.file.ReadAt(b, from); err != nil && err != io.EOF {
		l.fail(err)
	}
	return b
}

func (l *Blobs) end(n int) int64 {
	var b [8]byte
	l.ends.Get(n, b[:])
	return int64(binary.LittleEndian.Uint64(b[:]))
}

func (l *Blobs) fail(err error) { l.err = cmp.Or(l.err, fault(err)) }

// Err returns the first error of reading or writing the file, a Fault of kind IO. Texts
// that were returned after it are not reliable.
func (l *Blobs) Err() error {
	if l.ends == nil {
		return l.err
	}
	return cmp.Or(l.err, l.ends.Err())
}

// Close closes the list and its file.
func (l *Blobs) Close() error {
	if l.ends == nil {
		return nil
	}
	err := l.ends.Close()
	if l.file != nil {
		err = cmp.Or(l.file.Close(), err)
	}
	*l = Blobs{err: l.err}
	return err
}
