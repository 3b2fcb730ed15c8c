package match

import (
	"strconv"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Edit appends val to b. It calls to for each value in val, and appends what to returns in place of the value, unless that is nil.
// It calls to for a value before it calls to for the values inside. path leads to the value, and to must not keep it.
func Edit(b, val []byte, to func(path []string, val []byte) []byte) []byte {
	return edit(b, val, nil, to)
}

func edit(b, val []byte, path []string, to func(path []string, val []byte) []byte) []byte {
	if other := to(path, val); other != nil {
		return append(b, other...)
	}
	if kind := scan.Type(val); kind == 'o' || kind == 'a' {
		out, err := scan.Rebuild(b, val, wire.DefaultMaxDepth+1, func(b []byte, i int, key, part []byte) ([]byte, error) {
			step := strconv.Itoa(i)
			if key != nil {
				step = scan.Key(key)
			}
			return edit(b, part, append(path, step), to), nil
		})
		if err == nil {
			return out
		}
	}
	return append(b, val...)
}

// Replace returns msg with each value at one of the JSON pointers replaced by what by returns. Pointers that lead to no
// value are ignored.
func Replace(msg []byte, pointers []string, by func(val []byte) []byte) []byte {
	if len(pointers) == 0 {
		return msg
	}
	set := wire.SetOf(pointers)
	return Edit(nil, msg, func(path []string, val []byte) []byte {
		if set[pointer(path)] {
			return by(val)
		}
		return nil
	})
}
