package framing

import (
	"rpcx/wire"
	"rpcx/wire/scan"
)

// A finder finds the end of the array or object that a window begins with, and
// looks at each of its bytes twice at most, however they come in.
type finder struct {
	depth int // the greatest nesting
	seen  int // bytes that the decoder has had
	slow  scan.Decoder
}

// find returns the end of the value, 0 when more bytes are needed. After an end
// or an error, an *scan.Error with an offset in win, the next value is looked
// for.
func (f *finder) find(win []byte) (end int, err error) {
	if f.seen == 0 {
		// Mostly the whole value is there. What is nested deeper than is good
		// for a stack is left to the decoder.
		end, err = scan.Value(win, 0, min(f.depth, wire.DefaultMaxDepth))
		bad, _ := err.(*scan.Error)
		if bad == nil || !bad.Cut && !(bad.Deep && f.depth > wire.DefaultMaxDepth) {
			return end, err
		}
		f.slow.Depth = f.depth
		f.slow.Reset()
	}
	n, done, err := f.slow.Next(win[f.seen:])
	f.seen += n
	switch {
	case err != nil:
		f.seen = 0
		return 0, err
	case done:
		end, f.seen = f.seen, 0
		return end, nil
	}
	return 0, nil
}
