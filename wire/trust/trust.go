// Package trust decides whether a file may be obeyed: hooks, configuration,
// pages of dialects.
package trust

import (
	"os"

	"rpcx/wire"
)

// Check returns a usage Fault if others than its owner can write the file at
// path, or if its owner need not be trusted. what is the file's name in the
// Fault's text.
func Check(what, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return wire.Usagef("%s: %v", what, err)
	}
	why, hint := objection(path, info)
	if why == "" {
		return nil
	}
	f := wire.Usagef("%s: %s is refused: %s", what, path, why)
	f.Hint = hint
	return f
}

// What there may be to object to.
const (
	othersWrite = "others can write it"
	othersOwnIt = "it belongs to somebody else"
)
