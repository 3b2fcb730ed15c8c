package framing

import (
	"encoding/binary"
	"io"

	"rpcx/wire"
)

// Varint returns the framing with an unsigned LEB128 length before each message, as in delimited protobuf streams.
func Varint(rwc io.ReadWriteCloser, o wire.Options) wire.Conn {
	return newLengthPrefixed(rwc, o, &lengthPrefixedSource{length: binary.Uvarint}, wrap{head: func(dst []byte, size int) []byte {
		return binary.AppendUvarint(dst, uint64(size))
	}})
}
