package jq

import (
	"context"
	"encoding/json"
)

// A Scratch is memory that successive runs of programs reuse. The zero value is usable.
type Scratch struct {
	slots  []slot // of the places of a plan
	text   []byte
	outs   [][]byte
	unsure bool // gojq has to compute the output
}

// maxScratch bounds the memory for text that is reused.
const maxScratch = 1 << 20

// Quick is like Run, for programs that do not need gojq: programs that only follow a path, or that select, compare and
// build an object. ok is false for all other programs and if the program fails. The outputs are parts of in or of s,
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
