package match

import (
	"rpcx/wire"
	"rpcx/wire/scan"
)

// Replace returns msg with the value at each of the JSON pointers replaced by
// val. Pointers that lead nowhere are ignored.
func Replace(msg []byte, pointers []string, val []byte) []byte {
	if len(pointers) == 0 {
		return msg
	}
	set := map[string]bool{}
	for _, p := range pointers {
		set[p] = true
	}
	return replace(nil, msg, "", set, val)
}

func replace(b, part []byte, at string, set map[string]bool, val []byte) []byte {
	if set[at] {
		return append(b, val...)
	}
	if kind := scan.Type(part); kind == 'o' || kind == 'a' {
		out, err := scan.Rebuild(b, part, wire.DefaultMaxDepth+1, func(b []byte, i int, key, inner []byte) ([]byte, error) {
			return replace(b, inner, scan.Below(at, i, key), set, val), nil
		})
		if err == nil {
			return out
		}
	}
	return append(b, part...)
}
