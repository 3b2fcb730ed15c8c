package child

import (
	"errors"
	"net"
	"os"

	"rpcx/wire/transport"
)

// ipcHere returns an error. On Windows, Node's channel is a named pipe with a framing of its own.
func ipcHere() error {
	return transport.UsageHint("use exec:COMMAND, which uses a child's stdin and stdout", "ipc: is not available on Windows")
}

func inheritedSocket(string) (net.Conn, error) { return nil, errors.ErrUnsupported }

func socketPair() (*net.UnixConn, *os.File, error) { return nil, nil, errors.ErrUnsupported }
