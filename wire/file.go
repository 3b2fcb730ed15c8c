package wire

import "encoding/json"

// A File is a file inside an answer. Its content is one of Base64 and Text, JSON texts.
type File struct {
	Kind   string // one word for its kind
	Name   string // as the peer has it; it may be no file's name, or ""
	Type   string // its media type; "" means not known
	Base64 json.RawMessage
	Text   json.RawMessage
}
