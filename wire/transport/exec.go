package transport

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"rpcx/wire"
)

// dialExec starts a child and speaks through its stdin and stdout.
func dialExec(ctx context.Context, a Address, c Config) (wire.Conn, error) {
	if len(a.Command) == 0 {
		return nil, usage("%s: has no command", a.Scheme)
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
	return c.frame(s, "")
}

// childCommand returns the command of an exec or ipc address.
func childCommand(a Address, c Config) *exec.Cmd {
	cmd := exec.Command(a.Command[0], a.Command[1:]...)
	// Were we a child over Node's IPC, our child must not take our channel.
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, nodeChannelFD+"=") && !strings.HasPrefix(v, nodeChannelMode+"=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, c.Env...)
	return cmd
}

// startChild starts cmd with its stderr copied to c.Stderr. Where it has
// no stdout of its own, that goes there too.
func startChild(ctx context.Context, cmd *exec.Cmd, pipes childPipes, c Config) (*childStream, error) {
	if err := ctx.Err(); err != nil {
		return nil, wire.NewFault(wire.Unreachable, "not started: "+err.Error(), err)
	}
	pump, stderr, err := newStderrPump(c.Stderr)
	if err != nil {
		return nil, noDescriptors(err)
	}
	cmd.Stderr = stderr
	if cmd.Stdout == nil {
		cmd.Stdout = stderr // what a child over ipc prints is for people
	}
	p, err := StartProcess(cmd)
	stderr.Close()
	if err != nil {
		pump.close(context.Background(), 0)
		return nil, err
	}
	c.Watch.Tell(wire.Fact{Step: "child", Text: fmt.Sprintf("started as process %d: %s", p.Pid(), shownCommand(cmd.Args))})
	return newChildStream(p, pipes, pump, c), nil
}

func noDescriptors(err error) *wire.Fault {
	return wire.NewFault(wire.Unreachable, "no pipe for the child: "+err.Error(), err)
}
