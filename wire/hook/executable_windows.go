package hook

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// executable reports whether sh can run a file. On Windows, files have no executable bit.
func executable(at string, _ fs.FileInfo) bool {
	switch strings.ToLower(filepath.Ext(at)) {
	case ".exe", ".cmd":
		return true
	}
	return isScript(at)
}
