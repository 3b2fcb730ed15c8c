package jq

import (
	"context"
	"encoding/json"
)

// A Scratch is memory that runs of programs use again, one after the other. The zero value
// is usable.
type Scratch struct {
	slots []slot // of what is looked at now
	room  []slot // of that, and of all around it
	text  []byte
	outs  [][]byte
	ask   bool // gojq has to be asked
}

// The most memory for text, and the most outputs, for which memory is kept.
const (
	maxScratch = 1 << 20
	maxOuts    = 1 << 15
)

// Quick is Run for programs that need not be run: those that only follow paths, compare,
// select and build. ok is false for all others, and where the program has to say what is
// wrong; then nothing was done. The outputs are parts of in or of s, and valid until s is
// used again.
func (p *Program) Quick(ctx context.Context, in json.RawMessage, s *Scratch) (outs [][]byte, ok bool) {
	switch {
	case p.code != nil:
		ok = p.plan.run(ctx, in, s)
	case p.path != nil && p.root == "":
		var out []byte
		if out, ok = p.Path(in); ok {
			s.outs = append(s.outs[:0], out)
		}
	}
	if !ok {
		return nil, false
	}
	return s.outs, true
}
