package scan

// Rebuild appends val, an object or array at most depth deep, with each part as one appends it. one gets the part's index,
// its key as Members returns it (nil in an array) and its value. Keys stay unchanged; blanks between parts are removed. It
// returns the error of one, or an *Error if val is broken, so that nothing is lost silently.
func Rebuild(b, val []byte, depth int, one func(b []byte, i int, key, part []byte) ([]byte, error)) ([]byte, error) {
	parts, ends := ReadArray(val, depth), "[]"
	if Type(val) == 'o' {
		parts, ends = ReadObject(val, depth), "{}"
	}
	b = append(b, ends[0])
	i := 0
	for key, part, ok := parts.Next(); ok; key, part, ok = parts.Next() {
		if i > 0 {
			b = append(b, ',')
		}
		if ends == "{}" {
			b = append(b, '"')
			b = append(b, key...)
			b = append(b, '"', ':')
		}
		var err error
		if b, err = one(b, i, key, part); err != nil {
			return nil, err
		}
		i++
	}
	if err := parts.Err(); err != nil {
		return nil, err
	}
	return append(b, ends[1]), nil
}
