// Package values checks JSON values, in one file or many, against one JSON
// Schema.
//
//	values.go   Checker, Result
//	reader.go   the values in a file: NDJSON, or JSON over many lines
//	source.go   --schema: a file, and which part of it
package values

import (
	"context"
	"io"

	"rpcx/wire/schema"
)

// A Checker checks values against one schema. It is safe for concurrent use.
type Checker struct {
	schema *schema.Schema
}

// A Result is the outcome of checking one value.
type Result struct {
	File       string // as it was given; "-" is standard input
	Line       int    // on which the value begins, from 1
	Mismatches []schema.Mismatch
}

// OK reports whether the value fits the schema.
func (r Result) OK() bool { return len(r.Mismatches) == 0 }

// Check checks every value in r, in order, and calls each with the result. Text
// that is not JSON is a mismatch of the rule json, and the values after it are
// checked, too. The error is ctx's, one of reading r, or of each, which ends the
// run.
func (c *Checker) Check(ctx context.Context, file string, r io.Reader, each func(Result) error) error {
	values := newReader(r)
	for {
		v, err := values.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		result := Result{File: file, Line: v.line}
		if v.broken != "" {
			result.Mismatches = []schema.Mismatch{{Rule: "json", Message: v.broken}}
		} else if result.Mismatches, err = c.schema.All(ctx, v.text); err != nil {
			return err
		}
		if err := each(result); err != nil {
			return err
		}
	}
}
