package scan

// Keys checks b like Valid. It passes the name of each member at any depth to see, without quotes, and every other
// string to text, with quotes. Escapes stay unchanged. If b is invalid, they receive only the strings before the error.
func Keys(b []byte, depth int, see, text func(b []byte)) error {
	i, bad := keysOf(b, Skip(b, 0), depth, see, text)
	if bad == none {
		if i = Skip(b, i); i < len(b) {
			bad = trailing
		}
	}
	return bad.at(i)
}

// keysOf is like value, but passes names to see and other strings to text.
func keysOf(b []byte, i, depth int, see, text func(b []byte)) (int, fault) {
	if i < len(b) && b[i] == '{' {
		return keysIn(b, i, depth, '}', noCommaObject, see, text)
	}
	if i < len(b) && b[i] == '[' {
		return keysIn(b, i, depth, ']', noCommaArray, see, text)
	}
	if i < len(b) && b[i] == '"' {
		stop, bad := str(b, i)
		if bad == none {
			text(b[i:stop])
		}
		return stop, bad
	}
	return value(b, i, depth)
}

// keysIn is like object and array, but passes names to see and other strings to text. end is the closing bracket.
func keysIn(b []byte, i, depth int, end byte, noComma fault, see, text func(b []byte)) (int, fault) {
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
		if i, bad = keysOf(b, i, depth-1, see, text); bad != none {
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
