package recorder

import (
	"bytes"
	"context"
	"time"

	"rpcx/wire"
	"rpcx/wire/jq"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
	"rpcx/wire/tape/match"
)

// A redactor removes secrets from messages. It is not safe for concurrent use.
type redactor struct {
	paths  []*jq.Paths
	warn   func(text string)
	told   bool
	shapes scan.Shapes
	see    func(name []byte) bool // the methods name and text, bound once to save allocations in look
	read   func(quoted []byte, word bool) bool
	found  bool              // the current message may contain a secret
	marks  *redact.Numbering // nil to redact nothing
}

func newRedactor(paths []*jq.Paths, warn func(string), marks *redact.Numbering) *redactor {
	r := &redactor{paths: paths, warn: warn, marks: marks}
	r.see, r.read = r.name, r.text
	return r
}

// append appends the redacted msg to dst and describes the result. It does not allocate for messages without secret names, unless the
// user has selected secrets.
func (r *redactor) append(dst, msg []byte) ([]byte, tape.Text) {
	found, is := r.look(msg)
	switch {
	case is == tape.Unknown:
		return append(dst, redact.KnownBytes(redact.Text(msg))...), is
	case !found && len(r.paths) == 0:
		return append(dst, msg...), is
	case found:
		msg, is = r.marks.JSON(msg), tape.JSON
	}
	if len(r.paths) > 0 {
		msg, is = r.chosen(msg), tape.JSON
	}
	if known := redact.KnownBytes(msg); !bytes.Equal(known, msg) { // a secret in a name or a number
		if msg, is = known, tape.JSON; scan.Valid(msg, wire.DefaultMaxDepth) != nil {
			is = tape.Unknown
		}
	}
	return append(dst, msg...), is
}

// look scans msg once. found reports whether msg may contain a secret. If an earlier message without secrets had the same members,
// look skips the names.
func (r *redactor) look(msg []byte) (found bool, is tape.Text) {
	r.found = redact.HasKnown(msg)
	ok, ascii := r.shapes.Valid(msg, wire.DefaultMaxDepth, r.see, r.read)
	switch {
	case ascii:
		is = tape.Printable
	case ok:
		is = tape.JSON
	}
	return r.found, is
}

// name reports whether a member's name is harmless.
func (r *redactor) name(name []byte) bool {
	own := r.marks.Sessions && string(name) == "sessionId"
	return r.harmless(own || !redact.SecretKey(name))
}

// text reports whether a string other than a name is harmless.
func (r *redactor) text(quoted []byte, word bool) bool {
	return r.harmless(!redact.Suspect(quoted, word))
}

func (r *redactor) harmless(is bool) bool {
	r.found = r.found || !is
	return is
}

// programTime bounds each run of a user's program.
const programTime = time.Second

// chosen returns msg without the parts that the user's programs select. If a program fails, chosen returns withheld.
func (r *redactor) chosen(msg []byte) []byte {
	ctx, cancel := context.WithTimeout(context.Background(), programTime)
	defer cancel()
	var all []string
	for _, p := range r.paths {
		pointers, err := p.Of(ctx, msg)
		if err != nil {
			if !r.told && r.warn != nil {
				r.told = true
				r.warn("--redact failed for a message, which is therefore not recorded: " + err.Error() + "; add ? after members that may be missing")
			}
			return withheld
		}
		all = append(all, pointers...)
	}
	return match.Replace(msg, all, r.marks.MarkJSON)
}

// withheld replaces a message that could not be redacted.
var withheld = scan.AppendQuoted(nil, tape.Redacted)
