package auth

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/oauth"
	"rpcx/wire/scan"
	"rpcx/wire/userfile"
)

type resource = *url.URL

type wants struct {
	oauth.Want
	secret, key, issuer    string
	scopes, params         []string
	noBrowser              bool
	device, machine, given bool
}

func (w *wants) flags() []*cmdline.Flag {
	const client, flow = "Client", "Login"
	return []*cmdline.Flag{
		cmdline.Bool(flow, "no-browser", "", "print the address to visit instead of opening it, and read from stdin the address to which the browser is redirected", &w.noBrowser),
		cmdline.Bool(flow, "device", "", "print an address to visit on any device, and a code to type there", &w.device),
		cmdline.Bool(flow, "client-credentials", "", "log in as the client itself, without a user", &w.machine),
		cmdline.Bool(flow, "with-token", "", "read a token from stdin and store it", &w.given),
		cmdline.List(flow, "scope", "", "request `SCOPE` (by default, the scope that ENDPOINT requires)", &w.scopes),
		cmdline.Text(flow, "issuer", "", "log in at the authorization server `URL` (by default, the one that ENDPOINT names)", &w.issuer),
		cmdline.List(flow, "auth-param", "", "`NAME=VALUE`: also send this parameter to the authorization server (NAME=: omit the parameter NAME)", &w.params),
		cmdline.Text(flow, "redirect-uri", "", "redirect the browser to `URI` after the login (by default, http://127.0.0.1/callback on a free port)", &w.RedirectURI),
		cmdline.Text(client, "client-id", "", "log in as the registered client `ID`", &w.ClientID),
		cmdline.Text(client, "client-secret", "", "`@FILE|ask`: read the client's secret from FILE, or prompt for it (ask)", &w.secret),
		cmdline.Text(client, "client-key", "", "read the client's private key from `FILE` (PEM)", &w.key),
		cmdline.Text(client, "client-metadata", "", "log in as the client that the metadata document at `URL` describes", &w.Document),
	}
}

// exclusive lists flags that cannot be combined with others, because the others would have no effect.
var exclusive = []struct {
	flag   string
	others []string
}{
	{"with-token", []string{
		"device", "client-credentials", "no-browser", "redirect-uri", "client-id", "client-metadata", "issuer", "scope", "auth-param",
		"cacert", "insecure", "proxy", "resolve", "connect-timeout",
	}},
	{"client-credentials", []string{"device", "no-browser", "redirect-uri", "client-metadata"}},
	{"device", []string{"no-browser", "redirect-uri", "client-key"}},
	{"client-id", []string{"client-metadata"}},
	{"client-secret", []string{"client-key"}},
}

func runLogin(ctx context.Context, run *env.Env, o *flags) error {
	for _, x := range exclusive {
		for _, other := range x.others {
			if run.Line.Has(x.flag) && run.Line.Has(other) {
				return run.Line.Usage("--%s and --%s cannot be combined", x.flag, other)
			}
		}
	}
	e, u, err := target(ctx, run)
	if err != nil {
		return err
	}
	var l *oauth.Login
	if o.want.given {
		l, err = readToken(ctx, u, o.account())
	} else {
		l, err = o.login(ctx, run, e, u)
	}
	if err != nil {
		return err
	}
	if err := l.Keep(ctx); err != nil {
		return err
	}
	return print(run, l)
}

func (o *flags) account() string {
	if a := o.conn.Login.Account(); a != nil {
		return *a
	}
	return ""
}

// login discovers the authorization server and logs in there.
func (o *flags) login(ctx context.Context, run *env.Env, e endpoint.Endpoint, u resource) (*oauth.Login, error) {
	w, err := o.want.read(ctx, run)
	if err != nil {
		return nil, err
	}
	w.Account = o.account()
	cfg, err := options.TransportConfig(ctx, run, &o.conn)
	if err != nil {
		return nil, err
	}
	c := oauth.NewClient(cfg)
	defer c.Close()
	found, err := c.Discover(ctx, u, probe(e), o.want.issuer)
	if err != nil {
		return nil, err
	}
	user := oauth.User{
		Visit: func(page string) {
			run.Console.Note("log in at " + page)
			if !o.want.noBrowser {
				open(run, page)
			}
		},
		Code: func(page, code string) { run.Console.Note("visit " + page + " and type the code " + code) },
		Warn: run.Console.Warn,
	}
	if o.want.noBrowser {
		user.Pasted = lines(ctx)
	}
	switch {
	case o.want.machine:
		return c.ClientCredentials(ctx, found, w)
	case o.want.device:
		return c.Device(ctx, found, w, user)
	}
	return c.Code(ctx, found, w, user)
}

// read returns the login that the flags request.
func (w *wants) read(ctx context.Context, run *env.Env) (oauth.Want, error) {
	want := w.Want
	for _, s := range w.scopes {
		want.Scopes = oauth.Scopes(want.Scopes, strings.Fields(s))
	}
	for _, p := range w.params {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return want, run.Line.Usage("--auth-param: %q is not NAME=VALUE", p)
		}
		want.Params = append(want.Params, oauth.Param{Name: name, Value: value})
	}
	if u, err := url.Parse(w.Document); w.Document != "" && (err != nil || u.Scheme != "https" || len(u.Path) < 2) {
		return want, run.Line.Usage("--client-metadata: %q is not an https URL with a path", w.Document)
	}
	var err error
	if want.Secret, err = readSecret(ctx, run, w.secret); err == nil {
		err = want.KeyFile(w.key)
	}
	return want, err
}

// readSecret returns the client's secret from @FILE or the user's input.
func readSecret(ctx context.Context, run *env.Env, given string) (string, error) {
	file, isFile := strings.CutPrefix(given, "@")
	switch {
	case given == "":
		return "", nil
	case given == "ask":
		secret, err := format.AskSecret(ctx, run.Stderr, "the client's secret: ")
		if errors.Is(err, format.ErrNoTerminal) {
			return "", run.Line.Usage("--client-secret ask: %v", err)
		}
		return secret, err
	case !isFile:
		return "", run.Line.Usage("--client-secret accepts only @FILE or ask, because other users can see command lines")
	}
	b, err := userfile.Read(file)
	if err != nil {
		return "", wire.NewFault(wire.Usage, "--client-secret: "+err.Error(), err)
	}
	if secret := strings.TrimSpace(string(b)); secret != "" {
		return secret, nil
	}
	return "", run.Line.Usage("--client-secret: %s is empty", file)
}

// readToken returns a login with the token on stdin.
func readToken(ctx context.Context, u resource, account string) (*oauth.Login, error) {
	b, err := env.ReadStdin(ctx)
	if err != nil {
		return nil, err
	}
	return oauth.WithToken(u, account, strings.TrimSpace(string(b)))
}

// probe returns the body of a request to e without side effects, or nil for a GET. The response names the credentials that
// e requires.
func probe(e endpoint.Endpoint) []byte {
	if e.Address.WebSocket() {
		return nil
	}
	var o scan.Object
	o.Text("jsonrpc", "2.0")
	o.Int("id", 1)
	o.Text("method", "rpc.discover")
	return o.End()
}

// lines returns the lines of stdin.
func lines(ctx context.Context) <-chan string {
	all := make(chan string)
	go func() {
		defer wire.Guard()
		defer close(all)
		_ = env.EachLine(ctx, func(_ int64, line []byte) error {
			select {
			case all <- string(line):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	return all
}
