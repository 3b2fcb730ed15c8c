package framing

import (
	"io"
	"strconv"

	"rpcx/wire"
)

// maxLengthDigits is the maximum number of digits in a length.
const maxLengthDigits = 10

// Netstring returns the framing of netstrings: a decimal length without leading zeros, a colon, the message, and a
// comma. It skips blanks between messages.
func Netstring(rwc io.ReadWriteCloser, o wire.Options) wire.Conn {
	return newLengthPrefixed(rwc, o, &lengthPrefixedSource{length: netstringLength, tail: ','}, wrap{tail: ",", head: func(dst []byte, size int) []byte {
		dst = strconv.AppendInt(dst, int64(size), 10)
		return append(dst, ':')
	}})
}

// netstringLength implements lengthPrefixedSource.length.
func netstringLength(win []byte) (size uint64, n int) {
	for n < len(win) && win[n] >= '0' && win[n] <= '9' && n <= maxLengthDigits {
		size = size*10 + uint64(win[n]-'0')
		n++
	}
	switch {
	case n > maxLengthDigits, n > 1 && win[0] == '0':
		return 0, -1
	case n == len(win):
		return 0, 0
	case n == 0 || win[n] != ':':
		return 0, -1
	}
	return size, n + 1
}
