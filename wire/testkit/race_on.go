//go:build race

package testkit

// Race reports whether the race detector is enabled, which uses much memory and slows loops.
const Race = true
