//go:build unix

package trust

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"rpcx/wire"
)

// objection returns why rpcx must not use a file, or "", and a hint for the user.
func objection(path string, info fs.FileInfo) (why, hint string) {
	switch {
	case info.Mode().Perm()&0o022 != 0:
		return othersWrite, "chmod go-w " + wire.Quote(path)
	case !trustedOwner(path, info):
		return othersOwnIt, ""
	}
	return "", ""
}

// trustedOwner reports whether the user or root owns a file. Without this check, root would use any user's file. If
// root runs rpcx, the owner of the file's directory is also trusted, because root chose the directory and its owner
// controls the content.
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

func ownerOf(info fs.FileInfo) (uid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}
