package jq

import (
	"bytes"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"rpcx/wire/scan"
)

// output returns val as it is printed.
func (s *Scratch) output(val []byte) []byte {
	if isPrinted(val) {
		return val
	}
	start := len(s.text)
	s.text = appendPrinted(s.text, val)
	return s.text[start:len(s.text):len(s.text)]
}

// isPrinted reports whether val is printed as it stands.
func isPrinted(val []byte) bool {
	switch val[0] {
	case '{', '[':
		return scan.IsTight(val)
	case '"':
		return isPrintedText(val)
	}
	return true
}

// isPrintedText reports whether gojq writes the string val as it stands.
func isPrintedText(val []byte) bool {
	if bytes.IndexByte(val, 0x7f) >= 0 || !utf8.Valid(val) {
		return false
	}
	for rest := val; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			return true
		}
		if c := rest[i+1]; c == 'u' || c == '/' {
			return false
		}
		rest = rest[i+2:]
	}
}

func appendPrinted(b, val []byte) []byte {
	switch {
	case val[0] == '{' || val[0] == '[':
		return scan.Squeeze(b, val)
	case isPrinted(val):
		return append(b, val...)
	}
	text, _ := gojq.Marshal(unescape(val[1 : len(val)-1]))
	return append(b, text...)
}
