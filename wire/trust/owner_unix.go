//go:build unix

package trust

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"rpcx/wire"
)

// objection returns the reason for which a file must not be obeyed, "" if there
// is none, and what to do about it.
func objection(path string, info fs.FileInfo) (why, hint string) {
	switch {
	case info.Mode().Perm()&0o022 != 0:
		return othersWrite, "chmod go-w " + wire.Quote(path)
	case !trustedOwner(path, info):
		return othersOwnIt, ""
	}
	return "", ""
}

// trustedOwner reports whether a file's owner is the user or root. Root could
// otherwise be made to obey any user's file, so for root the owner of the
// file's folder is trusted as well: who owns a folder decides what is in it,
// and root chose the folder.
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
