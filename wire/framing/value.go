package framing

import (
	"rpcx/wire"
	"rpcx/wire/scan"
)

// A finder finds the end of the array or object at the start of a window. It reads each byte at most twice, regardless
// of how the bytes arrive.
type finder struct {
	depth int // the maximum nesting
	seen  int // the number of bytes that were passed to the decoder
	slow  scan.Decoder
}

// find returns the end of the value, or 0 if it needs more bytes. Its error is a *scan.Error with an offset in win.
// After it has returned an end or an error, find starts with the next value.
func (f *finder) find(win []byte) (end int, err error) {
	if f.seen == 0 {
		// Usually the whole value has arrived. The decoder handles deep nesting, because it does not recurse.
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
