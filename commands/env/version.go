package env

import (
	"runtime/debug"
)

// version is set by scripts/build.
var version = ""

// Version returns the version of the build, or else of the module, or "devel".
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}
