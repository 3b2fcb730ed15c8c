// Package xdg returns the folders in which a user keeps the program's files, by
// the XDG Base Directory Specification: rpcx in each of its base directories.
// A variable that is unset or names a relative path counts for nothing there.
package xdg

import (
	"os"
	"path/filepath"
	"runtime"
)

// Config returns the folder of the configuration, $XDG_CONFIG_HOME/rpcx or
// ~/.config/rpcx; "" if there is no home folder either.
func Config() string { return folder("XDG_CONFIG_HOME", ".config") }

// State returns the folder of files that outlive a run, such as histories:
// $XDG_STATE_HOME/rpcx or ~/.local/state/rpcx; "" if there is no home folder either.
func State() string { return folder("XDG_STATE_HOME", ".local", "state") }

// Cache returns the folder of files that can be lost, $XDG_CACHE_HOME/rpcx or
// ~/.cache/rpcx (on macOS ~/Library/Caches/rpcx); "" if there is no home folder either.
func Cache() string {
	if runtime.GOOS == "darwin" {
		return folder("XDG_CACHE_HOME", "Library", "Caches")
	}
	return folder("XDG_CACHE_HOME", ".cache")
}

// StateFile returns the path of a file in State; "" if there is no such folder.
func StateFile(name string) string {
	dir := State()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// folder returns rpcx in the folder that a variable names, else in one below the
// home folder.
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
