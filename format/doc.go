// Package format writes the output for users: values on stdout (Pipeline), and progress, warnings and failures on
// stderr (Console).
//
// A Pipeline passes events through select, until, expect, jq and template, and writes one value per line. Without these
// stages, it prints the payload's bytes unchanged and without an allocation.
//
// A peer's text never reaches a terminal unescaped: Clean and CleanLine make control characters visible. Output to pipes
// and files keeps its bytes.
package format
