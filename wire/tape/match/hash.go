package match

import (
	"hash/maphash"
	"math"
	"strconv"

	"rpcx/wire/scan"
)

// Hash returns the same number for messages that Compare may find equal. It does not depend on generated values, on the order of members,
// or on the spelling of numbers and strings. It does depend on times and on parts that the user ignores, so different numbers do not
// prove that Compare finds a difference.
func (r *Rules) Hash(method string, msg []byte) uint64 {
	h := hasher{rules: r, method: method}
	return h.value(scan.Trim(msg))
}

// HashBytes returns the hash of a message that is not JSON.
func (r *Rules) HashBytes(b []byte) uint64 { return maphash.Bytes(r.seed, b) }

// Loose is like Hash, but does not depend on times, durations and other varying values. If the numbers are different, so are the
// messages, unless values are mapped, redacted or ignored.
func (r *Rules) Loose(method string, msg []byte) uint64 {
	h := hasher{rules: r, method: method, loose: true}
	return h.value(scan.Trim(msg))
}

// Ignores reports whether the user has excluded parts of messages from the comparison.
func (r *Rules) Ignores() bool { return len(r.ignore) > 0 }

type hasher struct {
	rules  *Rules
	method string
	path   []string
	loose  bool
}

func (h *hasher) value(val []byte) uint64 {
	switch kind := scan.Type(val); kind {
	case 'o':
		sum := uint64('o')
		for name, part := range scan.Named(val) {
			if h.loose && at(h.rules.varies, h.method, append(h.path, name)) {
				continue
			}
			sum += mix(maphash.String(h.rules.seed, name), h.inside(name, part))
		}
		return sum
	case 'a':
		sum, i := uint64('a'), 0
		for part := range scan.Elements(val) {
			sum = mix(sum, h.inside(strconv.Itoa(i), part))
			i++
		}
		return sum
	case 'n':
		f, _ := strconv.ParseFloat(string(val), 64)
		return mix('n', math.Float64bits(f+0))
	case 's':
		text, _ := scan.Text(val)
		return maphash.String(h.rules.seed, text)
	default:
		return uint64(kind)
	}
}

func (h *hasher) inside(step string, val []byte) uint64 {
	h.path = append(h.path, step)
	defer func() { h.path = h.path[:len(h.path)-1] }()
	if at(h.rules.generated, h.method, h.path) || at(h.rules.varies, h.method, h.path) {
		return 1
	}
	if h.loose && mayVary(step, val) {
		return uint64(scan.Type(val))
	}
	return h.value(val)
}

func mix(a, b uint64) uint64 { return (a*0x9E3779B97F4A7C15 ^ b) * 0xff51afd7ed558ccd }
