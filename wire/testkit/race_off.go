//go:build !race

package testkit

// Race reports whether the race detector is on, which needs memory and makes loops slow.
const Race = false
