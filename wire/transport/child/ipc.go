package child

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"

	"rpcx/wire"
	"rpcx/wire/transport"
	"rpcx/wire/transport/stream"
)

// Node describes the channel to its child in these environment variables.
const (
	nodeChannelFD   = "NODE_CHANNEL_FD"
	nodeChannelMode = "NODE_CHANNEL_SERIALIZATION_MODE"
)

// dialIPC starts a child with a Node IPC channel. Without a command, it uses the channel that the parent has passed.
func dialIPC(ctx context.Context, a transport.Address, c transport.Config) (wire.Conn, error) {
	if err := ipcHere(); err != nil {
		return nil, err
	}
	if len(a.Command) == 0 {
		return joinIPC(c)
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, noDescriptors(err)
	}
	defer theirs.Close()
	cmd := childCommand(a, c)
	cmd.ExtraFiles = []*os.File{theirs} // becomes descriptor 3
	cmd.Env = append(cmd.Env, nodeChannelFD+"=3", nodeChannelMode+"=json")
	s, err := startChild(ctx, cmd, childPipes{in: ours, closeIn: ours.CloseWrite, out: ours}, c)
	if err != nil {
		ours.Close()
		return nil, err
	}
	return newIPCConn(s, c), nil
}

// Listen returns a listener whose only client is the parent process, on the channel that it has passed.
func Listen(_ context.Context, a transport.Address, c transport.Config) (transport.Listener, error) {
	if err := ipcHere(); err != nil {
		return nil, err
	}
	switch {
	case len(a.Command) > 0:
		return nil, transport.UsageHint("ipc: without a command is for a child that Node has forked", "ipc:COMMAND starts a child: use it to connect, not to listen")
	case c.Token != "":
		return nil, transport.UsageHint("use ws:// or http://", "ipc: does not support --token")
	}
	conn, err := joinIPC(c)
	if err != nil {
		return nil, err
	}
	return transport.Single(conn), nil
}

// joinIPC opens the channel that the parent has passed.
func joinIPC(c transport.Config) (wire.Conn, error) {
	text, mode := os.Getenv(nodeChannelFD), os.Getenv(nodeChannelMode)
	if text == "" {
		return nil, transport.UsageHint("ipc:COMMAND starts a child; ipc: without a command is for a child that Node has forked",
			"ipc: %s is not set, so the parent passed no IPC channel", nodeChannelFD)
	}
	if mode != "" && mode != "json" {
		return nil, wire.Usagef("ipc: the parent serializes messages as %q, but rpcx supports only json", mode)
	}
	conn, err := inheritedSocket(text)
	if err != nil {
		return nil, wire.Usagef("ipc: %s is %q, which is not an open socket: %v", nodeChannelFD, text, err)
	}
	os.Unsetenv(nodeChannelFD)
	os.Unsetenv(nodeChannelMode)
	return newIPCConn(stream.New(conn), c), nil
}

// A lineConn has those methods of the framing's Conn that an ipcConn exposes.
type lineConn interface {
	wire.Conn
	wire.Idler
	wire.Batcher
}

// An ipcConn sends one message per line and does not deliver Node's own messages. It is not a wire.HalfCloser, because Node
// can only close the whole channel.
type ipcConn struct {
	lineConn
	c      transport.Config
	warned bool
}

func newIPCConn(s io.ReadWriteCloser, c transport.Config) wire.Conn {
	return &ipcConn{lineConn: c.Frame(s, "").(lineConn), c: c}
}

// Recv returns the next message that is not one of Node's own ("cmd" begins with "NODE_"). If a message has a handle,
// Recv removes it and acknowledges the message, because Node waits for that.
func (i *ipcConn) Recv() ([]byte, error) {
	for {
		msg, err := i.lineConn.Recv()
		if err != nil || !bytes.Contains(msg, []byte(`"NODE_`)) {
			return msg, err
		}
		var members map[string]json.RawMessage
		var cmd string
		if json.Unmarshal(msg, &members) != nil || json.Unmarshal(members["cmd"], &cmd) != nil ||
			len(cmd) <= len("NODE_") || !strings.HasPrefix(cmd, "NODE_") {
			return msg, nil
		}
		if !i.warned {
			i.warned = true
			i.c.Warnf("ipc: ignored Node's own message %s; handles are dropped", cmd)
		}
		if cmd != "NODE_HANDLE" {
			continue
		}
		if err := i.lineConn.Send([]byte(`{"cmd":"NODE_HANDLE_ACK"}`)); err != nil {
			return nil, err
		}
		if text := members["msg"]; text != nil {
			return text, nil
		}
	}
}
