package jq

import (
	"context"
	"encoding/json"
)

// A Scratch is memory that successive runs reuse. The zero value is usable.
type Scratch struct {
	slots  []slot // one for each place of a plan
	text   []byte
	outs   [][]byte
	unsure bool // gojq must compute the output
}

// maxScratch is the maximum size, in bytes, of text memory that is reused.
const maxScratch = 1 << 20

// Quick is like Run, but only for programs that do not need gojq: those that only follow a path, or that only select,
// compare and build an object. ok is false for other programs and after failures. The outputs share memory with in or s,
// and are valid until s is used again.
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
