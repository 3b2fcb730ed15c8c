//go:build unix

package child

import "os"

// PipeTo returns a pipe for a child to read; the local end has deadlines.
func PipeTo() (theirs, ours *os.File, err error) { return os.Pipe() }

// PipeFrom returns a pipe for a child to write; the local end has deadlines.
func PipeFrom() (ours, theirs *os.File, err error) { return os.Pipe() }
