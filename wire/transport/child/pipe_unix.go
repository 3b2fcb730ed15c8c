//go:build unix

package child

import "os"

// PipeTo returns a pipe to a child. The local end supports deadlines.
func PipeTo() (theirs, ours *os.File, err error) { return os.Pipe() }

// PipeFrom returns a pipe from a child. The local end supports deadlines.
func PipeFrom() (ours, theirs *os.File, err error) { return os.Pipe() }
