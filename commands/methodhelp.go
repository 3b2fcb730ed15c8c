package commands

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/session"
)

// asksAboutMethod says that --help stands behind a method whose far side may
// tell what it takes.
func (a *app) asksAboutMethod() bool {
	l := a.line
	if l.cmd.Name != "call" && l.cmd.Name != "subscribe" || len(l.path) != 1 || len(l.args) < 2 {
		return false
	}
	if strings.HasPrefix(l.args[0], "@") {
		return true
	}
	dialect := ""
	for _, f := range l.flags {
		if value, ok := strings.CutPrefix(f, "--dialect="); ok {
			dialect = value
		}
	}
	e, err := session.ParseEndpoint(l.args[0], dialect)
	return err == nil && session.SpecOf(e).ModuleOf != nil
}

// methodHelp prints what a method takes, as its far side tells; where that
// cannot be had, the help of the command.
func methodHelp(ctx context.Context, a *app, o *clientFlags) error {
	e, rest, err := a.endpoint(ctx, o.conn.dialect)
	if err != nil {
		return err
	}
	var m *catalog.Method
	c, err := askAboutMethod(ctx, a, e, o, rest[0])
	switch {
	case err != nil:
		a.console.Warn("the peer cannot be asked about " + format.CleanLine(rest[0]) + ": " + toFault(err).Error())
	case c != nil:
		if m = methodOf(c, rest[0]); m == nil {
			text := "the peer has no method " + format.CleanLine(rest[0])
			if near := catalog.Nearest(rest[0], c.Names()); near != "" {
				text += ": did you mean " + format.CleanLine(near) + "?"
			}
			a.console.Warn(text)
		}
	}
	if m == nil {
		return help(os.Stdout, a.line)
	}
	var b bytes.Buffer
	if err := a.listing(c).Method(&b, m, a.line.args[0]); err != nil {
		return err
	}
	b.WriteString("\nrpcx " + a.line.cmd.Name + " --help tells of the flags.\n")
	return say(os.Stdout, b.String())
}

// askAboutMethod is what the far side tells of a method; nil where it does not.
func askAboutMethod(ctx context.Context, a *app, e session.Endpoint, o *clientFlags, method string) (_ *catalog.Catalog, err error) {
	if e.Dialect != "" && session.SpecOf(e).ModuleOf == nil {
		return nil, nil
	}
	cl := o.time.deadline(ctx, defaultIdle)
	defer cl.stop()
	conv, err := a.open(cl.ctx, e, o, nil, false)
	if err != nil {
		return keptCatalog(a, e, &o.conn, err)
	}
	defer func() { err = errors.Join(err, closing(ctx, conv, &o.hooks, err)) }()
	if session.SpecNamed(conv.Dialect()).ModuleOf == nil {
		return nil, nil
	}
	c, err := discovered(cl.ctx, conv, method)
	if errors.Is(err, wire.ErrUnsupported) {
		return nil, wire.NewFault(wire.RPCError, "it does not describe itself", nil)
	}
	return c, cause(cl.ctx, err)
}
