package request

import (
	"errors"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/scan"
)

// Outgoing returns the message for a line that the user typed. It adds "jsonrpc" if the dialect has that member and the
// line does not. The error is the reason why the line is not a message.
func Outgoing(line []byte, dialect string) ([]byte, error) {
	if err := scan.Valid(line, wire.DefaultMaxDepth); err != nil {
		return nil, err
	}
	switch kind := scan.Type(line); {
	case kind != 'o' && kind != 'a':
		return nil, errors.New("a message must be an object, or an array of objects")
	case all.Named(dialect).JSONRPCMember:
		line = versioned(line)
	}
	return line, nil
}

// versioned adds "jsonrpc" to each request, notification and response in msg that
// lacks it.
func versioned(msg []byte) []byte {
	if scan.Type(msg) == 'a' {
		var a scan.Array
		for val := range scan.Elements(msg) {
			a.Add(versioned(val))
		}
		return a.End()
	}
	if scan.Type(msg) != 'o' || scan.Get(msg, "jsonrpc") != nil {
		return msg
	}
	for _, member := range []string{"method", "result", "error"} {
		if scan.Get(msg, member) != nil {
			return scan.Splice(msg, "jsonrpc", []byte(`"2.0"`))
		}
	}
	return msg
}
