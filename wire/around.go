package wire

import (
	"bytes"
	"regexp"

	"rpcx/wire/scan"
)

// An Around describes the text that surrounds the JSON of each message.
type Around struct {
	before *regexp.Regexp // the text before the JSON, or nil
	after  []byte
}

// NewAround returns an Around: before is a regular expression for the text before the JSON, and after is the literal
// text behind it. Either may be "". NewAround panics if before is invalid.
func NewAround(before, after string) *Around {
	a := &Around{after: []byte(after)}
	if before != "" {
		a.before = regexp.MustCompile("^(?:" + before + ")")
	}
	return a
}

// Open splits text into messages and removes the text behind each. If there is a pattern for the text before the JSON,
// each message becomes an array: this text, and the JSON if there is any.
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

// Close restores the text around a message from Open. If there is a pattern, msg must be an array of a string and at most
// one value. Close returns any other msg unchanged.
func (a *Around) Close(msg []byte) []byte {
	if a.before == nil {
		return append(bytes.Clone(msg), a.after...)
	}
	parts := scan.List(msg)
	if len(parts) == 0 || len(parts) > 2 || scan.Type(parts[0]) != 's' {
		return msg
	}
	out := []byte(scan.String(parts[0]))
	if len(parts) > 1 {
		out = append(out, parts[1]...)
	}
	return append(out, a.after...)
}
