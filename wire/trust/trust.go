// Package trust decides whether to obey a file: hooks, a configuration file or a dialect file.
package trust

import (
	"os"

	"rpcx/wire"
)

// Check returns a usage Fault if other users than its owner can write the file at path, or if its owner is not trusted. what
// is the kind of file in the Fault's text.
func Check(what, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return wire.Usagef("%s: %v", what, err)
	}
	why, hint := objection(path, info)
	if why == "" {
		return nil
	}
	return wire.Usagef("%s: %s is refused: %s", what, path, why).WithHint(hint)
}

const (
	othersWrite = "other users can write it"
	othersOwnIt = "it belongs to another user"
)
