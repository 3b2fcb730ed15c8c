package ro

import "strings"

// maxRecent bounds the keys that a recent remembers, because the peer decides how many there are.
const maxRecent = 128

// recent is a set of the last maxRecent keys that were added.
type recent struct {
	keys []string
	next int
}

func (r *recent) add(key string) {
	switch {
	case len(key) > 1<<10 || r.has([]byte(key)):
	case len(r.keys) < maxRecent:
		r.keys = append(r.keys, key)
	default:
		r.keys[r.next] = key
		r.next = (r.next + 1) % maxRecent
	}
}

func (r *recent) has(key []byte) bool {
	for _, k := range r.keys {
		if k == string(key) {
			return true
		}
	}
	return false
}

// ending returns a place with that target, for any resource.
func (r *recent) ending(target string) (string, bool) {
	for _, k := range r.keys {
		if strings.HasSuffix(k, "\x00"+target) {
			return k, true
		}
	}
	return "", false
}
