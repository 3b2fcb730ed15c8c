package spill

import (
	"sort"
	"sync"
)

// A Map is a map from keys to numbers. It is safe for concurrent use.
type Map struct {
	mu     sync.Mutex
	recent map[uint64]uint32 // the keys that were set or found last
	filter []uint64          // bits that all keys of runs have set: most that are not there lack one
	runs   runs              // the others; of a key that is there more than once the last counts
}

const (
	mapKeys     = 16 << 10  // how many keys a Map has in memory
	filterWords = 128 << 10 // of 64 bits
)

// bits returns the two bits of the filter that belong to a key.
func bits(key uint64) [2]uint64 {
	key *= 0x9E3779B97F4A7C15
	return [2]uint64{key >> 41, key >> 18 & (1<<23 - 1)}
}

// may reports whether key may be in the runs.
func (m *Map) may(key uint64) bool {
	for _, bit := range bits(key) {
		if m.filter == nil || m.filter[bit/64]&(1<<(bit%64)) == 0 {
			return false
		}
	}
	return true
}

// Set sets the number of key to val.
func (m *Map) Set(key uint64, val uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set(key, val)
}

func (m *Map) set(key uint64, val uint32) {
	if m.recent == nil {
		m.recent = map[uint64]uint32{}
	}
	m.recent[key] = val
	if len(m.recent) < mapKeys {
		return
	}
	if m.filter == nil {
		m.filter = make([]uint64, filterWords)
	}
	piece := make([]pair, 0, len(m.recent))
	for key, val := range m.recent {
		piece = append(piece, pair{key, val})
		for _, bit := range bits(key) {
			m.filter[bit/64] |= 1 << (bit % 64)
		}
	}
	m.runs.add(piece)
	clear(m.recent)
}

// Get returns the number of key; false if it has none.
func (m *Map) Get(key uint64) (uint32, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if val, ok := m.recent[key]; ok {
		return val, true
	}
	if !m.may(key) {
		return 0, false
	}
	for n := len(m.runs.ends) - 1; n >= 0; n-- {
		from, end := 0, m.runs.ends[n]
		if n > 0 {
			from = m.runs.ends[n-1]
		}
		i := from + sort.Search(end-from, func(i int) bool { return pairAt(m.runs.r, from+i).key >= key })
		if i == end {
			continue
		}
		if p := pairAt(m.runs.r, i); p.key == key {
			m.set(key, p.val)
			return p.val, true
		}
	}
	return 0, false
}

// Err returns the first error of the file; see Records.
func (m *Map) Err() error {
	if m.runs.r == nil {
		return nil
	}
	return m.runs.r.Err()
}

// Close closes the map and its file.
func (m *Map) Close() error {
	if m.runs.r == nil {
		return nil
	}
	return m.runs.r.Close()
}
