package options

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
	"rpcx/wire/session"
	"rpcx/wire/transport"
	"rpcx/wire/transport/child"
	"rpcx/wire/userfile"
)

// Listening contains the flags that determine who may connect, and where rpcx writes the address.
type Listening struct {
	origins []string
	token   string
	public  bool
	File    string // the file for the address, or ""
}

// Flags returns the flags of l.
func (l *Listening) Flags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.List(cmdline.GroupListen, "allow-origin", "", "accept connections from web pages of `ORIGIN`", &l.origins),
		cmdline.Parsed(cmdline.GroupListen, "token", "", "require the bearer token in `@FILE`", func(text string) error {
			if text == "" { // perhaps of an unset variable, which must not disable the token
				return errors.New("it needs @FILE, not an empty value")
			}
			l.token = text
			return nil
		}),
		cmdline.Bool(cmdline.GroupListen, "public", "", "accept clients from other machines without a token or client certificates", &l.public),
		cmdline.Text(cmdline.GroupListen, "listening", "", "write the line with the bound address to `FILE`", &l.File),
	}
}

// Config returns the TransportConfig of c with the rules for who may connect.
func (c *Connection) Config(ctx context.Context, run *env.Env) (transport.Config, error) {
	cfg, err := TransportConfig(ctx, run, c)
	if err != nil {
		return cfg, err
	}
	cfg.AllowOrigin, cfg.Public = c.Listen.origins, c.Listen.public
	cfg.Token, err = readSecret("--token", c.Listen.token)
	return cfg, err
}

// readSecret reads the value @FILE of a flag, or returns "" without the flag. A secret on a command line would be
// visible to every user of the machine.
func readSecret(flag, given string) (string, error) {
	if given == "" {
		return "", nil
	}
	file, ok := strings.CutPrefix(given, "@")
	if !ok {
		return "", wire.NewFault(wire.Usage, flag+" accepts only @FILE, because other users can see command lines", nil)
	}
	b, err := userfile.Read(file)
	if err != nil {
		return "", wire.NewFault(wire.Usage, flag+": "+err.Error(), err)
	}
	secret := strings.TrimSpace(string(b))
	if secret == "" {
		return "", wire.NewFault(wire.Usage, flag+": "+file+" is empty", nil)
	}
	return secret, nil
}

// AddressLine returns the line with a listener's address, without a line break.
func AddressLine(at string) string {
	return string(scan.Pair("listening", scan.AppendQuoted(nil, at)))
}

// WriteAddress writes the line with a listener's address to the file of --listening.
func WriteAddress(file, at string) error {
	err := env.ReplaceFile(file, func(f *os.File) error {
		_, err := f.WriteString(AddressLine(at) + "\n")
		return err
	})
	if err != nil {
		return wire.NewFault(wire.IO, "--listening: "+err.Error(), err)
	}
	return nil
}

// Await returns how to wait for a peer that connects: how long, where to write the listen address (the file of
// --listening, or stderr), and the command after --.
func (c *Connection) Await(run *env.Env) *session.Await {
	return &session.Await{For: time.Duration(c.wait), Bound: func(at string, giveUp func(error)) (func(), error) {
		if c.Listen.File == "" {
			run.Console.Line(AddressLine(at))
		} else if err := WriteAddress(c.Listen.File, at); err != nil {
			return nil, err
		}
		if len(run.Line.Trailing) == 0 {
			return nil, nil
		}
		return runDialler(run, at, giveUp)
	}}
}

// runDialler runs the command that connects to the address at, and replaces {port} in its arguments. The command's
// output goes to stderr. stop ends the command with its process group.
func runDialler(run *env.Env, at string, giveUp func(error)) (stop func(), err error) {
	e, _ := endpoint.Parse(at, "") // never fails for rpcx's own address
	port := e.Address.Host[strings.LastIndexByte(e.Address.Host, ':')+1:]
	words := wire.Map(run.Line.Trailing, func(w string) string { return strings.ReplaceAll(w, "{port}", port) })
	says := run.Console.Writer(words[0])
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = says, says, env.CloseStepTimeout
	cmd.Env = append(os.Environ(), "RPCX_ENDPOINT="+at)
	p, err := child.Start(cmd)
	if err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := p.Wait()
		says.Flush()
		if err != nil { // after a success, a process of the command may still connect
			giveUp(wire.NewFault(wire.Unreachable, fmt.Sprintf("%s did not connect: %v", words[0], err), err))
		}
	}()
	return func() {
		p.End(env.CloseTimeout)
		<-ended
	}, nil
}

// stateKeyBytes is the minimum length of a state key.
const stateKeyBytes = 16

// StateKey reads --state-key @FILE, or returns nil without the flag.
func StateKey(given string) ([]byte, error) {
	key, err := readSecret("--state-key", given)
	switch {
	case err != nil || key == "":
		return nil, err
	case len(key) < stateKeyBytes:
		return nil, wire.NewFault(wire.Usage, fmt.Sprintf("--state-key: the key must have at least %d bytes", stateKeyBytes), nil)
	}
	return []byte(key), nil
}
