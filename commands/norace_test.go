//go:build !race

package commands

const patiently = 1
