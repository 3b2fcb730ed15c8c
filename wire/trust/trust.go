// Package trust says whose files are obeyed: hooks, configuration, pages of dialects.
package trust

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"rpcx/wire"
)

// Check refuses what others than its owner can write, and what belongs to
// somebody whom we need not trust. what is the word for it in the usage Fault.
func Check(what, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return wire.Usagef("%s: %v", what, err)
	}
	why := "others can write it"
	if info.Mode().Perm()&0o022 == 0 {
		if trustedOwner(path, info) {
			return nil
		}
		why = "it belongs to somebody else"
	}
	f := wire.Usagef("%s: %s is refused: %s", what, path, why)
	if info.Mode().Perm()&0o022 != 0 {
		f.Hint = "chmod go-w " + wire.Quote(path)
	}
	return f
}

// trustedOwner tells whether a file's owner is us or root. When we are root,
// which would otherwise run what any user has put somewhere, the owner of the
// folder that the file is in will do, too: who owns a folder decides what is in
// it, and root was pointed there.
func trustedOwner(path string, info fs.FileInfo) bool {
	owner, ok := ownerOf(info)
	uid := os.Geteuid()
	if !ok || owner == uid || owner == 0 {
		return true
	}
	if uid != 0 {
		return false
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil || folder.Mode().Perm()&0o022 != 0 {
		return false
	}
	of, ok := ownerOf(folder)
	return ok && of == owner
}

// ownerOf returns the user id of a file's owner.
func ownerOf(info fs.FileInfo) (uid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}
