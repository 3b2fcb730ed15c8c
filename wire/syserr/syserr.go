// Package syserr says what an error of the operating system means: each has
// numbers of its own for it.
package syserr

import "errors"

// Refused reports whether nobody listens at an address or a socket.
func Refused(err error) bool { return is(err, refused) }

// Reset reports whether the peer has cut a connection off.
func Reset(err error) bool { return is(err, reset) }

// Crowded reports whether a socket has more connections waiting than it keeps.
func Crowded(err error) bool { return is(err, crowded) }

// BrokenPipe reports whether nobody reads any more what was written.
func BrokenPipe(err error) bool { return is(err, brokenPipe) }

// Denied reports whether a connection is not permitted.
func Denied(err error) bool { return is(err, denied) }

// NoStream reports whether what a path leads to is no socket for a stream.
func NoStream(err error) bool { return is(err, noStream) }

// NoSockets reports whether the system has no sockets of that kind.
func NoSockets(err error) bool { return is(err, noSockets) }

func is(err error, any []error) bool {
	for _, one := range any {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}
