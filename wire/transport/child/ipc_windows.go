package child

import (
	"errors"
	"net"
	"os"

	"rpcx/wire/transport"
)

// ipcHere says why Node's channel cannot be used on this system: here it is a named
// pipe with frames of its own, in place of a socket with lines.
func ipcHere() error {
	return transport.UsageHint("exec:COMMAND speaks through a child's stdin and stdout", "ipc: is not there on Windows")
}

func inheritedSocket(string) (net.Conn, error) { return nil, errors.ErrUnsupported }

func socketPair() (*net.UnixConn, *os.File, error) { return nil, nil, errors.ErrUnsupported }
