package wire

import (
	"bytes"
	"regexp"

	"rpcx/wire/scan"
)

// An Around is the text around the JSON of messages.
type Around struct {
	before *regexp.Regexp // nil means no text is before it
	after  []byte
}

// NewAround returns the Around of a regular expression, which must be one, for the text before the JSON, and the text that
// is after it. "" stands for none.
func NewAround(before, after string) *Around {
	a := &Around{after: []byte(after)}
	if before != "" {
		a.before = regexp.MustCompile("^(?:" + before + ")")
	}
	return a
}

// Open returns the messages in text, without the text after each. If text may be before the JSON, a message is an array of
// both.
func (a *Around) Open(text []byte) (msgs [][]byte) {
	parts := [][]byte{text}
	if len(a.after) > 0 {
		parts = bytes.Split(text, a.after)
		if last := len(parts) - 1; last > 0 && len(parts[last]) == 0 {
			parts = parts[:last]
		}
	}
	for _, part := range parts {
		if a.before == nil {
			msgs = append(msgs, part)
			continue
		}
		n := len(a.before.Find(part))
		msg := scan.AppendArray(nil)
		msg.Text(string(part[:n]))
		if rest := scan.Trim(part[n:]); len(rest) > 0 {
			msg.Add(rest)
		}
		msgs = append(msgs, msg.End())
	}
	return msgs
}

// Close returns a message as Open has found it. One that is not an array of a string and at most one value, where text may be
// before the JSON, is sent unchanged.
func (a *Around) Close(msg []byte) []byte {
	if a.before == nil {
		return append(bytes.Clone(msg), a.after...)
	}
	var parts [][]byte
	for part := range scan.Elements(msg) {
		parts = append(parts, part)
	}
	if len(parts) == 0 || len(parts) > 2 || scan.Type(parts[0]) != 's' {
		return msg
	}
	out := []byte(scan.String(parts[0]))
	if len(parts) > 1 {
		out = append(out, parts[1]...)
	}
	return append(out, a.after...)
}
