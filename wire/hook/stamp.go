package hook

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Stamp returns a text that changes when a file below dir is added, removed or written.
func Stamp(dir string) string {
	var b strings.Builder
	b.WriteString(dir)
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil {
			fmt.Fprintf(&b, "\n%s %d %v %v", path, info.Size(), info.Mode(), info.ModTime().UnixNano())
		}
		return nil
	})
	return b.String()
}
