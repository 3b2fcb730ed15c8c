package framing

import (
	"rpcx/wire"
	"rpcx/wire/scan"
)

// A finder finds the end of the array or object at the start of a window. It reads each byte at most twice, regardless
// of how the bytes arrive.
type finder struct {
	seen int // the number of bytes that were passed to the decoder
	slow scan.Decoder
}

// find returns the end of the value, or 0 if it needs more bytes. depth is the maximum nesting. The error is a *scan.Error
// with an offset in win. After it has returned an end or an error, find starts with the next value.
func (f *finder) find(win []byte, depth int) (end int, err error) {
	if f.seen == 0 {
		// Usually the whole value has arrived. The decoder handles deep nesting, because it does not recurse.
		end, err = scan.Value(win, 0, min(depth, wire.DefaultMaxDepth))
		bad, _ := err.(*scan.Error)
		if bad == nil || !bad.Cut && !(bad.Deep && depth > wire.DefaultMaxDepth) {
			return end, err
		}
		f.slow.Depth = depth
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
