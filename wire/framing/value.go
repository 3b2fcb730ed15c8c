package framing

import (
	"rpcx/wire"
	"rpcx/wire/scan"
)

// A finder finds the end of the array or object at the start of a window. It reads each byte at most three times,
// regardless of how the bytes arrive.
type finder struct {
	seen int // the length of the window in the last call, if the value needs more bytes
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
	end, done, err := f.slow.Next(win)
	if f.seen = len(win); done || err != nil {
		f.seen = 0
	}
	return end, err
}
