// Package trust decides whether rpcx may use a file: hooks, a configuration file or a dialect file.
package trust

import (
	"os"

	"rpcx/wire"
)

// Check returns a usage Fault if users other than its owner can write to the file at path, or if its owner is not trusted.
// what names the kind of file in the Fault.
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
	othersWrite = "other users can write to it"
	othersOwnIt = "it belongs to another user"
)
