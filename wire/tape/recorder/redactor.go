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

// A redactor removes the secrets from messages. It is not safe for concurrent use.
type redactor struct {
	paths  []*jq.Paths
	warn   func(text string)
	told   bool
	shapes scan.Shapes
	see    func(name []byte) bool // the methods name and text, bound once to keep look free of allocations
	read   func(quoted []byte) bool
	found  bool              // the current message may hold a secret
	marks  *redact.Numbering // nil if secrets are not redacted
}

func newRedactor(paths []*jq.Paths, warn func(string), marks *redact.Numbering) *redactor {
	r := &redactor{paths: paths, warn: warn, marks: marks}
	r.see, r.read = r.name, r.text
	return r
}

// append appends the redacted msg to dst, and returns what is known about it. It does not allocate if no member has a secret name and the
// user has named none.
func (r *redactor) append(dst, msg []byte) ([]byte, tape.Text) {
	found, is := r.look(msg)
	switch {
	case is == tape.Unknown:
		return append(dst, redact.KnownBytes(redact.Text(msg))...), is
	case found:
		msg, is = r.marks.JSON(msg), tape.JSON
	}
	if len(r.paths) > 0 {
		msg, is = r.chosen(msg), tape.JSON
	}
	if known := redact.KnownBytes(msg); !bytes.Equal(known, msg) { // a name or a number
		if msg, is = known, tape.JSON; scan.Valid(msg, wire.DefaultMaxDepth) != nil {
			is = tape.Unknown
		}
	}
	return append(dst, msg...), is
}

// look scans msg once. found reports whether it may contain a secret. It skips the names if a message without secrets had the same
// members.
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

// name checks the name of a member and reports whether it is harmless.
func (r *redactor) name(name []byte) bool {
	own := r.marks.Sessions && string(name) == "sessionId"
	return r.harmless(own || !redact.SecretKey(name))
}

// text checks a string that is not a name, and reports whether it is harmless.
func (r *redactor) text(quoted []byte) bool { return r.harmless(!redact.Suspect(quoted)) }

func (r *redactor) harmless(is bool) bool {
	r.found = r.found || !is
	return is
}

// programTime bounds the time that a user's program may run for one message.
const programTime = time.Second

// chosen returns msg without the parts that the user's programs select. If a program fails, chosen returns withheld instead of
// the message.
func (r *redactor) chosen(msg []byte) []byte {
	ctx, cancel := context.WithTimeout(context.Background(), programTime)
	defer cancel()
	var all []string
	for _, p := range r.paths {
		pointers, err := p.Of(ctx, msg)
		if err != nil {
			if !r.told && r.warn != nil {
				r.told = true
				r.warn("--redact fails on a message, of which nothing is recorded: " + err.Error() + " (a ? after what may not be there helps)")
			}
			return withheld
		}
		all = append(all, pointers...)
	}
	return match.Replace(msg, all, r.marks.MarkJSON)
}

// withheld replaces a message that could not be redacted.
var withheld = scan.AppendQuoted(nil, tape.Redacted)
