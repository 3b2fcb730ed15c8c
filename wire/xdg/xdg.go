// Package xdg returns the directories for a user's rpcx files: the directory rpcx in each base directory of the XDG
// Base Directory Specification. It ignores a variable that is unset or contains a relative path.
package xdg

import (
	"os"
	"path/filepath"
	"runtime"
)

// Config returns the directory for configuration files: $XDG_CONFIG_HOME/rpcx or ~/.config/rpcx, or "" if there is no
// home directory.
func Config() string { return folder("XDG_CONFIG_HOME", ".config") }

// State returns the directory for files that outlive a run, such as histories: $XDG_STATE_HOME/rpcx or
// ~/.local/state/rpcx, or "" if there is no home directory.
func State() string { return folder("XDG_STATE_HOME", ".local", "state") }

// Cache returns the directory for files that can be deleted: $XDG_CACHE_HOME/rpcx or ~/.cache/rpcx (on macOS
// ~/Library/Caches/rpcx), or "" if there is no home directory.
func Cache() string {
	if runtime.GOOS == "darwin" {
		return folder("XDG_CACHE_HOME", "Library", "Caches")
	}
	return folder("XDG_CACHE_HOME", ".cache")
}

// StateFile returns the path of a file in State, or "" if there is no such directory.
func StateFile(name string) string {
	dir := State()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// folder returns the directory rpcx in the directory that a variable names, or otherwise in one below the home
// directory.
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
