// Package format writes what users see: values on stdout (Pipeline), and progress,
// warnings and failures on stderr (Console).
//
// A Pipeline takes events through select, until, expect, jq and template and
// writes what is left, one value per line. With none of these the payload's bytes
// pass through unchanged, without an allocation.
//
// Text from a peer never reaches a terminal as it is: Clean and CleanLine make
// control characters visible that a terminal would obey. What goes into a pipe or
// a file keeps its bytes.
package format
