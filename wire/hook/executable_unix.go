//go:build unix

package hook

import "io/fs"

// executable reports whether a file can be run.
func executable(_ string, info fs.FileInfo) bool { return info.Mode()&0o111 != 0 }
