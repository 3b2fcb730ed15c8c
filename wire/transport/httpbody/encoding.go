package httpbody

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
)

// Decoded undoes the Content-Encoding of a body. The encoding may be gzip, deflate or none.
func Decoded(encoding string, body io.Reader) (io.Reader, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		return gzip.NewReader(body)
	case "deflate": // in the format of zlib, which some servers omit
		in := bufio.NewReader(body)
		if head, _ := in.Peek(2); len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			return zlib.NewReader(in)
		}
		return flate.NewReader(in), nil
	}
	return nil, fmt.Errorf("rpcx cannot decode %q", encoding)
}

// DecodedBytes is like Decoded, but for a whole body. It returns an error for more than max bytes.
func DecodedBytes(encoding string, body []byte, max int) ([]byte, error) {
	if len(body) == 0 {
		return nil, nil
	}
	in, err := Decoded(encoding, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return ReadBytes(in, 0, max)
}

// Accepted returns the part of an Accept-Encoding header that names encodings for Decoded. ok is false if that is the
// whole header.
func Accepted(header string) (accepted string, ok bool) {
	var kept []string
	all := strings.Split(header, ",")
	for _, part := range all {
		name, _, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "x-gzip", "deflate", "identity", "":
			kept = append(kept, part)
		}
	}
	if accepted = strings.TrimSpace(strings.Join(kept, ",")); accepted == "" && header != "" {
		accepted = "identity"
	}
	return accepted, len(kept) < len(all)
}
