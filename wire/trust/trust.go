// Package trust says whose files are obeyed: hooks, configuration, pages of dialects.
package trust

import (
	"os"

	"rpcx/wire"
)

// Check refuses what others than its owner can write, and what belongs to
// somebody whom we need not trust. what is the word for it in the usage Fault.
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
