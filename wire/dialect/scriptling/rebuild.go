package scriptling

import (
	"rpcx/wire"
	"rpcx/wire/scan"
)

// rebuild appends val, an object or an array, with each part as one appends it.
// i is the part's place; key is its name as it stands, nil in an array.
func rebuild(b, val []byte, one func(b []byte, i int, key, v []byte) ([]byte, error)) ([]byte, error) {
	parts, ends := scan.Array(val, wire.DefaultMaxDepth), "[]"
	if scan.Type(val) == 'o' {
		parts, ends = scan.Object(val, wire.DefaultMaxDepth), "{}"
	}
	b = append(b, ends[0])
	i := 0
	for key, v, ok := parts.Next(); ok; key, v, ok = parts.Next() {
		if i > 0 {
			b = append(b, ',')
		}
		if ends == "{}" {
			b = append(append(append(b, '"'), key...), `":`...)
		}
		var err error
		if b, err = one(b, i, key, v); err != nil {
			return nil, err
		}
		i++
	}
	return append(b, ends[1]), nil
}
