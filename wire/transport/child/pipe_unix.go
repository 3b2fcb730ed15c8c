//go:build unix

package child

import "os"

// PipeTo returns a pipe whose end is for a child to read, and ours has deadlines.
func PipeTo() (theirs, ours *os.File, err error) { return os.Pipe() }

// PipeFrom returns a pipe whose end is for a child to write, and ours has deadlines.
func PipeFrom() (ours, theirs *os.File, err error) { return os.Pipe() }
