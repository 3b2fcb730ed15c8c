// Package format writes the output for users: values on stdout (Pipeline), and progress, warnings and failures on
// stderr (Console).
//
// A Pipeline passes events through select, until, expect, jq and template, and writes one value per line. If there are
// no such stages, it prints the bytes of the payload unchanged and allocates no memory.
//
// Text from a peer never reaches a terminal unescaped: Clean and CleanLine make control characters visible. Output to
// pipes and files is not changed.
package format
