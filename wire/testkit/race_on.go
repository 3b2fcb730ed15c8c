//go:build race

package testkit

// Race reports whether the race detector is on, which takes memory of its own and makes loops slow.
const Race = true
