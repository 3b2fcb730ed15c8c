// Package xdg returns the directories of a user's rpcx files: rpcx in each base directory of the XDG Base Directory
// Specification. It ignores a variable that is unset or contains a relative path.
package xdg

import (
	"os"
	"path/filepath"
	"runtime"
)

// Config returns the directory of the configuration, $XDG_CONFIG_HOME/rpcx or ~/.config/rpcx, or "" without a home
// directory.
func Config() string { return folder("XDG_CONFIG_HOME", ".config") }

// State returns the directory of files that outlive a run, such as histories: $XDG_STATE_HOME/rpcx or
// ~/.local/state/rpcx, or "" without a home directory.
func State() string { return folder("XDG_STATE_HOME", ".local", "state") }

// Cache returns the directory of expendable files, $XDG_CACHE_HOME/rpcx or ~/.cache/rpcx (on macOS
// ~/Library/Caches/rpcx), or "" without a home directory.
func Cache() string {
	if runtime.GOOS == "darwin" {
		return folder("XDG_CACHE_HOME", "Library", "Caches")
	}
	return folder("XDG_CACHE_HOME", ".cache")
}

// StateFile returns the path of a file in State, or "" without that directory.
func StateFile(name string) string {
	dir := State()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// folder returns rpcx in the directory of a variable, or else in one below the home directory.
func folder(variable string, below ...string) string {
	dir := os.Getenv(variable)
	if !filepath.IsAbs(dir) {
		home, _ := os.UserHomeDir()
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(append([]string{home}, below...)...)
	}
	return filepath.Join(dir, "rpcx")
}
