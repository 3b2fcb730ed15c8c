//go:build !unix

package rundir

import "os"

// checkOwn has nothing to look at here: the temporary folder is the user's own.
func checkOwn(string) error { return nil }

// lockFile has nothing to lock with.
func lockFile(*os.File) error { return nil }

// refused cannot tell a socket that is left from one that is busy.
func Refused(error) bool { return false }

// crowded says no: nothing is known.
func Crowded(error) bool { return false }
