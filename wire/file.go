package wire

import "encoding/json"

// A File is a file inside an answer. Its content is either Base64 or Text, which are JSON strings.
type File struct {
	Kind   string // one word for its kind
	Name   string // in the peer's spelling; it may not be a valid file name, or ""
	Type   string // its media type, or "" if unknown
	Base64 json.RawMessage
	Text   json.RawMessage
}
