package jq

import (
	"context"
	"encoding/json"
)

// A Scratch is memory that successive runs share. The zero value is usable.
type Scratch struct {
	slots  []slot // the slots of a plan's places
	text   []byte
	outs   [][]byte
	unsure bool // gojq must compute the output
}

// maxScratch bounds the reused memory for text, in bytes.
const maxScratch = 1 << 20

// Quick is like Run, but only for programs that do not need gojq. Such a program only follows a path, or selects, compares
// and builds an object. ok is false for other programs and for failures. The outputs are parts of in or of s, and are
// valid until the next use of s.
func (p *Program) Quick(ctx context.Context, in json.RawMessage, s *Scratch) (outs [][]byte, ok bool) {
	switch {
	case p.code != nil:
		ok = p.plan.run(ctx, in, s)
	case p.path != nil && p.root == "":
		var out []byte
		if out, ok, _ = p.follow(in); ok {
			s.outs = append(s.outs[:0], compact(out))
		}
	}
	if !ok {
		return nil, false
	}
	return s.outs, true
}
