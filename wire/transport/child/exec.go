// Package child starts processes in groups of their own, ends them with all their descendants, and connects to their
// stdin and stdout (exec) or to Node's IPC channel (ipc).
package child

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// Dial starts a child and connects to it (exec, ipc). For ipc without a command, it connects to the parent instead.
func Dial(ctx context.Context, a transport.Address, c transport.Config) (wire.Conn, error) {
	if a.Scheme == "ipc" {
		return dialIPC(ctx, a, c)
	}
	return dialExec(ctx, a, c)
}

// dialExec starts a child and connects to its stdin and stdout.
func dialExec(ctx context.Context, a transport.Address, c transport.Config) (wire.Conn, error) {
	if len(a.Command) == 0 {
		return nil, wire.Usagef("%s: has no command", a.Scheme)
	}
	cmd := childCommand(a, c)
	stdin, in, err := PipeTo()
	if err != nil {
		return nil, noDescriptors(err)
	}
	defer stdin.Close()
	out, stdout, err := PipeFrom()
	if err != nil {
		in.Close()
		return nil, noDescriptors(err)
	}
	defer stdout.Close()
	cmd.Stdin, cmd.Stdout = stdin, stdout
	s, err := startChild(ctx, cmd, childPipes{in: in, closeIn: in.Close, out: out}, c)
	if err != nil {
		in.Close()
		out.Close()
		return nil, err
	}
	return c.Frame(s, ""), nil
}

// childCommand returns the command for an exec or ipc address.
func childCommand(a transport.Address, c transport.Config) *exec.Cmd {
	cmd := exec.Command(a.Command[0], a.Command[1:]...)
	// If this process is itself a child with Node's IPC channel, its own child must not use that channel.
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, nodeChannelFD+"=") && !strings.HasPrefix(v, nodeChannelMode+"=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(append(cmd.Env, a.Env...), c.Env...)
	cmd.Dir = a.Dir
	return cmd
}

// startChild starts cmd and copies the child's stderr to c.Stderr. It also copies the child's stdout, unless stdout is
// the connection.
func startChild(ctx context.Context, cmd *exec.Cmd, pipes childPipes, c transport.Config) (*childStream, error) {
	if err := ctx.Err(); err != nil {
		return nil, wire.NewFault(wire.Unreachable, "not started: "+err.Error(), err)
	}
	pump, stderr, err := newStderrPump(c.Stderr)
	if err != nil {
		return nil, noDescriptors(err)
	}
	cmd.Stderr = stderr
	if cmd.Stdout == nil {
		cmd.Stdout = stderr // over ipc, the child's stdout is only output for the user
	}
	p, err := Start(cmd)
	stderr.Close()
	if err != nil {
		pump.close(context.Background(), 0)
		return nil, err
	}
	c.Watch.Tell(wire.Fact{Step: "child", Text: fmt.Sprintf("started as process %d: %s", p.Pid(), transport.ShownCommand(cmd.Args))})
	return newChildStream(p, pipes, pump, c), nil
}

func noDescriptors(err error) *wire.Fault {
	return wire.NewFault(wire.Unreachable, "cannot create a pipe to the child: "+err.Error(), err)
}
