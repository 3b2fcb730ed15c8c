//go:build !unix

package session

// checkOwn has nothing to look at here: the temporary folder is the user's own.
func checkOwn(string) error { return nil }
