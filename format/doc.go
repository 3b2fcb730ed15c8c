// Package format writes the output that users see: values on stdout (Pipeline), and progress, warnings and failures on
// stderr (Console).
//
// A Pipeline passes events through select, until, expect, jq and template and writes the results, one value per line.
// Without these, the payload's bytes are printed unchanged, without an allocation.
//
// Text from a peer never reaches a terminal unescaped: Clean and CleanLine make control characters visible. Output to pipes
// and files keeps its bytes.
package format
