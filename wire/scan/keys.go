package scan

// Keys checks b like Valid, and passes the name of each member of each object in it to see, without quotes, escapes
// unchanged. If b is broken, see has received the names before that place.
func Keys(b []byte, depth int, see func(name []byte)) error {
	i, bad := keysOf(b, Skip(b, 0), depth, see)
	if bad == none {
		if i = Skip(b, i); i < len(b) {
			bad = trailing
		}
	}
	return bad.at(i)
}

// keysOf is value, but passes all names to see.
func keysOf(b []byte, i, depth int, see func(name []byte)) (int, fault) {
	if i < len(b) && b[i] == '{' {
		return keysIn(b, i, depth, '}', noCommaObject, see)
	}
	if i < len(b) && b[i] == '[' {
		return keysIn(b, i, depth, ']', noCommaArray, see)
	}
	return value(b, i, depth)
}

// keysIn is object or array, which ends with the byte end, but passes all names to see.
func keysIn(b []byte, i, depth int, end byte, noComma fault, see func(name []byte)) (int, fault) {
	if depth <= 0 {
		return i, deep
	}
	i = Skip(b, i+1)
	if i < len(b) && b[i] == end {
		return i + 1, none
	}
	for {
		var bad fault
		if end == '}' {
			start, stop := i, 0
			if stop, i, bad = keyAndColon(b, i); bad != none {
				return i, bad
			}
			see(b[start+1 : stop-1])
		}
		if i < len(b) && b[i] == '"' {
			i, bad = str(b, i)
		} else {
			i, bad = keysOf(b, i, depth-1, see)
		}
		if bad != none {
			return i, bad
		}
		if i = Skip(b, i); i >= len(b) {
			return i, cut
		}
		switch b[i] {
		case ',':
			i = Skip(b, i+1)
		case end:
			return i + 1, none
		default:
			return i, noComma
		}
	}
}
