//go:build !race

package testkit

// Race reports whether the race detector is enabled, which uses much memory and slows loops. scripts/check finds the Test functions
// that mention Race, and also runs them without the race detector. Only these may leave something out because of it.
const Race = false
