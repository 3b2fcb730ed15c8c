//go:build race

package testkit

// Race reports whether the race detector is enabled (see race_off.go).
const Race = true
