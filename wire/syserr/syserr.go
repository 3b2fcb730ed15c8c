// Package syserr classifies errors of the operating system, whose numbers depend on the system.
package syserr

import (
	"errors"
	"slices"
)

// Refused reports whether a connection was refused because nothing listens there.
func Refused(err error) bool { return is(err, refused) }

// Reset reports whether the peer has reset a connection.
func Reset(err error) bool { return is(err, reset) }

// Crowded reports whether a connection failed because the queue of a listening socket is full.
func Crowded(err error) bool { return is(err, crowded) }

// Busy reports whether another process already listens at the address.
func Busy(err error) bool { return is(err, busy) }

// BrokenPipe reports whether a write failed because the reader has closed the pipe or socket.
func BrokenPipe(err error) bool { return is(err, brokenPipe) }

// Denied reports whether the operation is not permitted.
func Denied(err error) bool { return is(err, denied) }

// NoStream reports whether a path is not a stream socket.
func NoStream(err error) bool { return is(err, noStream) }

// NoSockets reports whether the system does not support this kind of socket.
func NoSockets(err error) bool { return is(err, noSockets) }

func is(err error, any []error) bool {
	return slices.ContainsFunc(any, func(one error) bool { return errors.Is(err, one) })
}
