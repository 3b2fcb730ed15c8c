package wire

import "encoding/json"

// A File is a file inside a response. Its content is in Base64 or in Text, as a JSON string.
type File struct {
	Kind   string // one word for its kind
	Name   string // the peer's name for the file, which may not be a valid file name, or ""
	Type   string // the media type, or ""
	Base64 json.RawMessage
	Text   json.RawMessage
}
