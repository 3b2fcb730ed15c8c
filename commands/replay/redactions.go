package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"rpcx/commands/env"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
)

// A redaction is a place on the tape where a placeholder replaces a secret. --redactions prints one line for each.
type redaction struct {
	Tape    string `json:"tape"`
	Line    int    `json:"line"`
	Pointer string `json:"pointer"`
	Secret  int    `json:"secret,omitempty"` // equal secrets have equal numbers; 0 means unnumbered
}

// redactions prints a line for each redaction of a tape.
func redactions(run *env.Env, r *tape.Reader, name string) error {
	for {
		l, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var all []redaction
		if bytes.Contains(l.Bytes, []byte(redact.Mark)) {
			all = append(all, redaction{Pointer: "/text"})
		}
		all = marked(all, l.Msg, "/msg")
		all = marked(all, scan.JSON(l.HTTP), "/http")
		for _, d := range all {
			d.Tape, d.Line = name, l.Number
			text := fmt.Sprintf("%s, line %d: %s", name, d.Line, d.Pointer)
			if d.Secret > 0 {
				text += fmt.Sprintf(" (%d)", d.Secret)
			}
			if err := printOne(run, d, text); err != nil {
				return err
			}
		}
	}
}

// marked appends the placeholders of secrets in val to all.
func marked(all []redaction, val []byte, pointer string) []redaction {
	if number, is := redact.IsMarked(val); is {
		return append(all, redaction{Pointer: pointer, Secret: number})
	}
	for step, part := range scan.Parts(val) {
		all = marked(all, part, pointer+"/"+scan.Escape(step))
	}
	return all
}
