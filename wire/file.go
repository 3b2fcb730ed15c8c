package wire

import "encoding/json"

// A File is a file inside a response. Its content is Base64 or Text, which are JSON strings.
type File struct {
	Kind   string // one word for its kind
	Name   string // the peer's name of the file, perhaps not a valid file name, or ""
	Type   string // the media type, or ""
	Base64 json.RawMessage
	Text   json.RawMessage
}
