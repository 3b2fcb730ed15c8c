// Package format is what pipes and people see: the lines on stdout (Pipeline)
// and the words on stderr (Console).
//
// A Pipeline takes events through select, until, expect, jq and template and
// writes what is left, one value a line. With none of these the payload's
// bytes pass through unchanged, without an allocation.
//
// Text of a peer never reaches a terminal as it is: control characters that a
// terminal would obey are made visible (Clean, CleanLine). What goes into a
// pipe or a file keeps its bytes.
package format
