package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"rpcx/commands/env"
	"rpcx/wire"
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
	print := func(line int, pointer string, secret int) error {
		d := redaction{name, line, pointer, secret}
		return printOne(run, d, fmt.Sprintf("%s, line %d: %s%s", name, line, pointer, numbered(secret)))
	}
	for {
		l, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if bytes.Contains(l.Bytes, []byte(redact.Mark)) {
			err = print(l.Number, "/text", 0)
		}
		if tape.MayBeRedacted(l.Msg) {
			err = errors.Join(err, marked(l.Msg, "/msg", func(pointer string, secret int) error { return print(l.Number, pointer, secret) }))
		}
		if l.HTTP != nil {
			err = errors.Join(err, marked(scan.JSON(l.HTTP), "/http", func(pointer string, secret int) error { return print(l.Number, pointer, secret) }))
		}
		if err != nil {
			return err
		}
	}
}

func numbered(secret int) string {
	if secret == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d)", secret)
}

// marked calls each for the placeholders of secrets in val.
func marked(val []byte, pointer string, each func(pointer string, secret int) error) error {
	switch kind := scan.Type(val); kind {
	case 's':
		if text, _ := scan.Text(val); tape.IsRedacted(val) {
			number, _ := redact.IsMark(text)
			return each(pointer, number)
		}
		return nil
	case 'o', 'a':
		parts := scan.ReadArray(val, wire.DefaultMaxDepth+1)
		if kind == 'o' {
			parts = scan.ReadObject(val, wire.DefaultMaxDepth+1)
		}
		i := 0
		for key, part, ok := parts.Next(); ok; key, part, ok = parts.Next() {
			if err := marked(part, scan.Descend(pointer, i, key), each); err != nil {
				return err
			}
			i++
		}
	}
	return nil
}
