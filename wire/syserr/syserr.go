// Package syserr classifies errors of the operating system, whose numbers differ between systems.
package syserr

import (
	"errors"
	"slices"
)

// Refused reports whether an address or socket has no listener.
func Refused(err error) bool { return is(err, refused) }

// Reset reports whether the peer has reset a connection.
func Reset(err error) bool { return is(err, reset) }

// Crowded reports whether a socket's queue of connections is full.
func Crowded(err error) bool { return is(err, crowded) }

// Busy reports whether another process listens at an address.
func Busy(err error) bool { return is(err, busy) }

// BrokenPipe reports whether the reader of a pipe or socket has closed it.
func BrokenPipe(err error) bool { return is(err, brokenPipe) }

// Denied reports whether a connection is not permitted.
func Denied(err error) bool { return is(err, denied) }

// NoStream reports whether a path is not a stream socket.
func NoStream(err error) bool { return is(err, noStream) }

// NoSockets reports whether the system does not support that kind of socket.
func NoSockets(err error) bool { return is(err, noSockets) }

func is(err error, any []error) bool {
	return slices.ContainsFunc(any, func(one error) bool { return errors.Is(err, one) })
}
