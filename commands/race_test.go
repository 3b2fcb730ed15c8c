//go:build race

package commands

// patiently is how much longer things may take under the race detector.
const patiently = 3
