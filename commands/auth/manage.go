package auth

import (
	"context"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/wire"
	"rpcx/wire/oauth"
)

func runStatus(ctx context.Context, run *env.Env, o *flags) error {
	logins, err := oauth.List()
	if err != nil {
		return err
	}
	if len(run.Line.Args) > 0 {
		_, u, err := target(ctx, run)
		if err != nil {
			return err
		}
		if logins = oauth.For(logins, u, o.conn.Login.Account()); len(logins) == 0 {
			return none(run, u)
		}
	}
	for _, l := range logins {
		if err := print(run, l); err != nil {
			return err
		}
	}
	return nil
}

// found returns the stored login for the endpoint, and a client for its authorization server.
func found(ctx context.Context, run *env.Env, o *flags) (*oauth.Login, *oauth.Client, resource, error) {
	_, u, err := target(ctx, run)
	if err != nil {
		return nil, nil, u, err
	}
	l, err := oauth.Find(u, o.conn.Login.Account())
	if err == nil && l == nil {
		err = none(run, u)
	}
	if err != nil {
		return nil, nil, u, err
	}
	cfg, err := options.TransportConfig(ctx, run, &o.conn)
	return l, oauth.NewClient(cfg), u, err
}

func runLogout(ctx context.Context, run *env.Env, o *flags) error {
	l, c, _, err := found(ctx, run, o)
	if err != nil {
		return err
	}
	defer c.Close()
	err = l.End(ctx, c)
	if f := wire.AsFault(err); f != nil {
		f.Message = "the login is deleted, but its tokens may still be valid: " + f.Message
		return f
	}
	if err == nil && l.Revocation == "" && l.Issuer != "" {
		run.Console.Note(l.Issuer + " cannot revoke tokens; they remain valid until they expire")
	}
	return err
}

func runToken(ctx context.Context, run *env.Env, o *flags) error {
	_, c, u, err := found(ctx, run, o)
	if err != nil {
		return err
	}
	defer c.Close()
	s := oauth.Source{Account: o.conn.Login.Account(), Client: func() *oauth.Client { return c }}
	token, err := s.Token(ctx, u, "")
	if err != nil {
		return err
	}
	return cmdline.Print(&run.Out, token+"\n")
}
