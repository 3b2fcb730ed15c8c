package spill

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"io"
)

// Texts is a map from texts to texts. The zero value is empty. It is not safe
// for concurrent use.
type Texts struct {
	recent map[string]string // the keys that were set or found last
	bytes  int               // approximately the size of recent
	seed   maphash.Seed
	where  Map   // by the hash of a key: where its entry begins in the file, in units
	file   *File // holds the other entries; nil: there are none
	units  uint32
	err    error
}

const (
	textsBytes = 512 << 10 // approximately how many bytes stay in memory
	textBytes  = 64        // approximately the size of an entry beside its texts
	unit       = 16        // bytes of the file
)

// Len returns 0 if nothing was set, else a positive number.
func (t *Texts) Len() int { return len(t.recent) + int(t.units) }

// Set sets the text of key to val.
func (t *Texts) Set(key, val string) {
	if t.recent == nil {
		t.recent, t.seed = map[string]string{}, maphash.MakeSeed()
	}
	t.recent[key] = val
	if t.bytes += len(key) + len(val) + textBytes; t.bytes > textsBytes {
		t.spill()
	}
}

// Get returns the text of key; false if it has none.
func (t *Texts) Get(key []byte) (string, bool) {
	if val, ok := t.recent[string(key)]; ok || t.file == nil {
		return val, ok
	}
	at, ok := t.where.Get(maphash.Bytes(t.seed, key))
	if !ok {
		return "", false
	}
	var head [8]byte
	from := int64(at) * unit
	if !t.read(head[:], from) {
		return "", false
	}
	keys := int(binary.LittleEndian.Uint32(head[:]))
	b := make([]byte, keys+int(binary.LittleEndian.Uint32(head[4:])))
	if keys != len(key) || !t.read(b, from+8) || string(b[:keys]) != string(key) {
		return "", false
	}
	val := string(b[keys:])
	t.Set(string(key), val)
	return val, true
}

func (t *Texts) read(b []byte, at int64) bool {
	_, err := t.file.ReadAt(b, at)
	if err != nil && err != io.EOF {
		t.err = cmp.Or(t.err, fault(err))
	}
	return err == nil
}

// spill writes everything that is in memory to the file.
func (t *Texts) spill() {
	if t.file == nil {
		f, err := NewFile()
		if err != nil {
			t.err = cmp.Or(t.err, fault(err))
			return
		}
		t.file = f
	}
	var b []byte
	for key, val := range t.recent {
		t.where.Set(maphash.String(t.seed, key), t.units+uint32(len(b)/unit))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(key)))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(val)))
		b = append(append(b, key...), val...)
		for len(b)%unit != 0 {
			b = append(b, 0)
		}
	}
	if _, err := t.file.WriteAt(b, int64(t.units)*unit); err != nil {
		t.err = cmp.Or(t.err, fault(err))
	}
	t.units += uint32(len(b) / unit)
	clear(t.recent)
	t.bytes = 0
}

// Err returns the first error of the file; see Records.
func (t *Texts) Err() error { return cmp.Or(t.err, t.where.Err()) }

// Close closes the texts and their file.
func (t *Texts) Close() error {
	if t.file == nil {
		return nil
	}
	_ = t.where.Close()
	return t.file.Close()
}
