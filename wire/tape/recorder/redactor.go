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
	warned bool
	shapes scan.Shapes
	see    func(name []byte) bool // the methods name and text, stored once so that look need not allocate
	read   func(quoted []byte, word bool) bool
	found  bool              // the current message may contain a secret
	marks  *redact.Numbering // nil if nothing is redacted
}

func newRedactor(paths []*jq.Paths, warn func(string), marks *redact.Numbering) *redactor {
	r := &redactor{paths: paths, warn: warn, marks: marks}
	r.see, r.read = r.name, r.text
	return r
}

// append appends msg to dst, with placeholders for secrets, and returns the form of the result. It does not allocate for a message
// without secret names, unless the user has selected secrets.
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
	if known := redact.KnownBytes(msg); !bytes.Equal(known, msg) { // the secret is in a name or in a number
		if msg, is = known, tape.JSON; scan.Valid(msg, wire.DefaultMaxDepth) != nil {
			is = tape.Unknown
		}
	}
	return append(dst, msg...), is
}

// look scans msg once. found is set if msg may contain a secret. If it has already found that the same member names contain no
// secret, it skips the names.
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

// name reports whether the name of a member is harmless.
func (r *redactor) name(name []byte) bool {
	own := r.marks.Sessions && string(name) == "sessionId"
	return r.harmless(own || !redact.SecretKey(name))
}

// text reports whether a string that is not a name is harmless.
func (r *redactor) text(quoted []byte, word bool) bool {
	return r.harmless(!redact.Suspect(quoted, word))
}

func (r *redactor) harmless(is bool) bool {
	r.found = r.found || !is
	return is
}

// programTime is how long each run of a user's program may take.
const programTime = time.Second

// chosen returns msg with placeholders for the parts that the user's programs select. If a program fails, it returns
// withheld.
func (r *redactor) chosen(msg []byte) []byte {
	ctx, cancel := context.WithTimeout(context.Background(), programTime)
	defer cancel()
	var all []string
	for _, p := range r.paths {
		pointers, err := p.Of(ctx, msg)
		if err != nil {
			if !r.warned && r.warn != nil {
				r.warned = true
				r.warn("--redact failed for a message, which is therefore not recorded: " + err.Error() + "; add ? after members that may be missing")
			}
			return withheld
		}
		all = append(all, pointers...)
	}
	return match.Replace(msg, all, r.marks.MarkJSON)
}

// withheld is recorded instead of a message that could not be redacted.
var withheld = scan.AppendQuoted(nil, redact.Mark)
