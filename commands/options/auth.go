package options

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/textproto"
	"os/exec"
	"strings"
	"unicode"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/transport/child"
	"rpcx/wire/userfile"
)

// readHeaders parses the values of --header: "Name: value", or @FILE with one
// such line for each header.
func readHeaders(given []string) (http.Header, error) {
	h := http.Header{}
	for _, g := range given {
		lines := []string{g}
		if file, ok := strings.CutPrefix(g, "@"); ok {
			b, err := userfile.Read(file)
			if err != nil {
				return nil, wire.NewFault(wire.Usage, "--header: "+err.Error(), err)
			}
			lines = strings.Split(string(b), "\n")
		}
		for _, l := range lines {
			l = strings.TrimRight(l, "\r")
			if strings.TrimSpace(l) == "" {
				continue
			}
			name, value, ok := strings.Cut(l, ":")
			if !ok || name == "" || strings.ContainsFunc(name, isNotName) || strings.ContainsFunc(strings.ReplaceAll(value, "\t", ""), unicode.IsControl) {
				return nil, wire.NewFault(wire.Usage, `--header: a header is one line, "Name: value", without control characters`, nil)
			}
			h.Add(textproto.CanonicalMIMEHeaderKey(name), strings.TrimSpace(value))
		}
	}
	return h, nil
}

// isNotName reports whether a character cannot be part of a header's name (RFC 9110, section 5.6.2).
func isNotName(r rune) bool {
	return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// addToken runs the command of --token-command and sends the first line of its output as the bearer token. It stops a
// command that prints more than maxTokenOutput. A failure is a Fault of kind Auth.
func addToken(ctx context.Context, h http.Header, command string, stderr *format.Console) error {
	bounded, stop := context.WithCancel(ctx)
	defer stop()
	out := firstLine{full: stop}
	says := stderr.Writer("token-command")
	defer says.Flush()
	cmd := exec.Command("sh", "-c", command)
	if cmd.Err != nil {
		return wire.NewFault(wire.Usage, "--token-command needs sh, which is not in PATH", cmd.Err)
	}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, says, env.CloseStepTimeout
	p, err := child.Start(cmd)
	if err == nil {
		ended := context.AfterFunc(bounded, func() { p.End(env.CloseStepTimeout) })
		err = p.Wait()
		ended()
	}
	if ctx.Err() != nil {
		return env.Cause(ctx, ctx.Err())
	}
	first, _, complete := bytes.Cut(out.text, []byte("\n"))
	switch stopped := bounded.Err() != nil; {
	case stopped && !complete:
		return wire.NewFault(wire.Auth, fmt.Sprintf("--token-command printed a line of more than %d bytes", maxTokenOutput), nil)
	case err != nil && !stopped:
		return wire.NewFault(wire.Auth, "--token-command failed: "+err.Error(), err)
	}
	token := string(bytes.TrimSpace(first))
	if token == "" {
		return wire.NewFault(wire.Auth, "--token-command printed nothing", nil)
	}
	if strings.ContainsFunc(token, unicode.IsControl) {
		return wire.NewFault(wire.Auth, "--token-command printed control characters instead of a token", nil)
	}
	h.Set("Authorization", "Bearer "+token)
	return nil
}

// maxTokenOutput is how many bytes --token-command may print before rpcx stops it.
const maxTokenOutput = 64 << 10

// A firstLine keeps the beginning of the output of --token-command. It calls full when the output is too long.
type firstLine struct {
	text []byte
	full func()
}

// Write implements io.Writer.
func (f *firstLine) Write(b []byte) (int, error) {
	kept := min(len(b), maxTokenOutput-len(f.text))
	if f.text = append(f.text, b[:kept]...); kept < len(b) {
		f.full()
	}
	return len(b), nil
}

// Login contains the flags about the logins of rpcx auth.
type Login struct {
	account *string // nil without the flag
	use     bool    // for serve and record: use a login for the peer of --to
}

// Flags returns the flags of l.
func (l *Login) Flags() []*cmdline.Flag {
	return []*cmdline.Flag{cmdline.OptionalText(cmdline.GroupConnection, "account", "use the login `NAME`, if rpcx auth has stored several", &l.account)}
}

// UseFlag returns the flag of commands that forward other programs' messages.
func (l *Login) UseFlag() *cmdline.Flag {
	return cmdline.Bool(cmdline.GroupConnection, "use-login", "", "send the stored login to the peer of --to (LISTEN must be guarded: --token, client certificates, a Unix socket or stdio:)", &l.use)
}

// Account returns the value of --account, or nil.
func (l *Login) Account() *string { return l.account }
