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
	owner, uid := ownerOf(info), os.Geteuid()
	if owner == uid || owner == 0 {
		return true
	}
	if uid != 0 {
		return false
	}
	folder, err := os.Stat(filepath.Dir(path))
	return err == nil && folder.Mode().Perm()&0o022 == 0 && ownerOf(folder) == owner
}

// ownerOf returns the user id of a file's owner. info must come from package os.
func ownerOf(info fs.FileInfo) (uid int) { return int(info.Sys().(*syscall.Stat_t).Uid) }
