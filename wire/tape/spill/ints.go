package spill

import "encoding/binary"

// Ints is a list of numbers; those that were never set are 0. See Records.
type Ints struct{ r *Records }

// NewInts returns an empty list.
func NewInts() *Ints { return &Ints{NewRecords(4)} }

// Get returns number i.
func (l *Ints) Get(i int) uint32 {
	var b [4]byte
	l.r.Get(i, b[:])
	return binary.LittleEndian.Uint32(b[:])
}

// Set sets number i to n.
func (l *Ints) Set(i int, n uint32) {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], n)
	l.r.Set(i, b[:])
}

// Err returns the first error of the file; see Records.
func (l *Ints) Err() error { return l.r.Err() }

// Close closes the file; see Records.
func (l *Ints) Close() error { return l.r.Close() }
