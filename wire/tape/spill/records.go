// Package spill keeps lists that may be longer than memory should hold: a bounded part of
// each is in memory, and the rest in a temporary file without a name. Short lists have no
// file.
package spill

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"sync"

	"rpcx/wire"
)

const (
	pageBytes = 4 << 10 // about what is read or written at once
	keepPages = 64      // of each list, in memory
)

// Records is a list of records of one size. Records that were never set are
// zero. It is safe for concurrent use.
type Records struct {
	size int // of a record, in bytes
	each int // records on a page

	mu    sync.Mutex
	n     int           // the highest index that was set, plus one
	pages map[int]*page // the pages in memory, by number
	ring  []*page       // the same pages, as a ring
	hand  int           // the place in ring where the search for a page to evict goes on
	last  *page         // the page that was used last
	file  *File         // nil: all pages are in memory
	err   error
}

// A page is a part of the list that is in memory.
type page struct {
	number int
	data   []byte // up to the last record that was set
	used   bool   // it was used since the hand passed it
	dirty  bool   // it differs from the file
}

// NewRecords returns a list of records of size bytes.
func NewRecords(size int) *Records {
	return &Records{size: size, each: max(pageBytes/size, 1), pages: map[int]*page{}}
}

// Len returns one more than the highest index that was set.
func (r *Records) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// Get copies record i to b.
func (r *Records) Get(i int, b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, at := r.page(i)
	clear(b[:r.size])
	if at < len(p.data) {
		copy(b[:r.size], p.data[at:])
	}
}

// Set sets record i to b.
func (r *Records) Set(i int, b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, at := r.page(i)
	if missing := at + r.size - len(p.data); missing > 0 {
		p.data = append(p.data, make([]byte, missing)...)
	}
	copy(p.data[at:], b[:r.size])
	p.dirty = true
	r.n = max(r.n, i+1)
}

// Err returns the first error of reading or writing the file, a Fault of kind
// IO. Values that were returned after it are not reliable.
func (r *Records) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close closes the list and its file.
func (r *Records) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pages, r.ring, r.last, r.n = map[int]*page{}, nil, nil, 0
	f := r.file
	if r.file = nil; f == nil {
		return nil
	}
	return f.Close()
}

// page returns the page of record i, and where in it the record stands.
func (r *Records) page(i int) (p *page, at int) {
	number := i / r.each
	at = (i - number*r.each) * r.size
	if p = r.last; p == nil || p.number != number {
		if p = r.pages[number]; p == nil {
			p = r.load(number)
		}
		r.last = p
	}
	p.used = true
	return p, at
}

// load reads a page into memory, in place of one that was not used lately.
func (r *Records) load(number int) *page {
	p := &page{}
	if len(r.ring) < keepPages {
		r.ring = append(r.ring, p)
	} else {
		p = r.evict()
	}
	*p = page{number: number, data: p.data[:0]}
	if r.file != nil {
		p.data = append(p.data, make([]byte, r.each*r.size)...)
		n, err := r.file.ReadAt(p.data, int64(number)*int64(r.each*r.size))
		if p.data = p.data[:n]; err != nil && err != io.EOF {
			r.fail(err)
		}
	}
	r.pages[number] = p
	return p
}

// evict writes a page that was not used lately to the file, and returns it.
func (r *Records) evict() *page {
	for r.ring[r.hand].used {
		r.ring[r.hand].used = false
		r.hand = (r.hand + 1) % len(r.ring)
	}
	p := r.ring[r.hand]
	r.hand = (r.hand + 1) % len(r.ring)
	if p.dirty {
		if r.file == nil {
			r.create()
		}
		if r.file != nil {
			_, err := r.file.WriteAt(p.data, int64(p.number)*int64(r.each*r.size))
			r.fail(err)
		}
	}
	delete(r.pages, p.number)
	return p
}

// create makes the file.
func (r *Records) create() {
	f, err := NewFile()
	if err != nil {
		r.fail(err)
		return
	}
	r.file = f
}

func (r *Records) fail(err error) {
	if err != nil {
		r.err = cmp.Or(r.err, fault(err))
	}
}

func fault(err error) error {
	return wire.NewFault(wire.IO, fmt.Sprintf("what a long tape needs beside memory, in %s: %v", os.TempDir(), err), err)
}
