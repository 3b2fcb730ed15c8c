//go:build unix

package hook

import "io/fs"

// executable reports whether the user can run a file.
func executable(_ string, info fs.FileInfo) bool { return info.Mode()&0o111 != 0 }
