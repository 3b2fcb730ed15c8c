package env

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/oauth"
)

// discoverTimeout bounds the requests that find an endpoint's authorization server.
const discoverTimeout = 3 * time.Second

// loginFix returns the command that logs in if missing authorization caused f. It returns nil if a login might not help.
func (h *Sniffer) loginFix(f *wire.Fault) []string {
	u := h.loginResource()
	switch {
	case u == nil:
		return nil
	case oauth.Ended(f):
		return h.run.Line.ForLogin()
	case f.HTTP == nil:
		return nil
	}
	ch := oauth.ParseChallenge(f.HTTP.Challenges)
	switch {
	case f.HTTP.Status == http.StatusUnauthorized && (ch != nil || h.e.Spec().Transport.Sessions != nil) && h.namesServer(u, ch):
		return h.run.Line.ForLogin()
	case f.HTTP.Status == http.StatusForbidden && ch != nil && ch.Error == "insufficient_scope":
		return h.moreScopes(u, ch.Scopes)
	}
	return nil
}

// renewsLogin reports whether the request was waiting for the renewal of its login.
func (h *Sniffer) renewsLogin() bool {
	s, ok := h.run.Opened.Transport.HTTPObserver.Login.(*oauth.Source)
	return ok && s.Renewing()
}

// loginResource returns the endpoint's resource if the command could use a login. It returns nil if the command sends other
// credentials.
func (h *Sniffer) loginResource() *url.URL {
	t := h.run.Opened.Transport
	if t.HTTPObserver.Login == nil || t.Header.Get("Authorization") != "" || h.e.Address.User != nil || h.e.Session != "" {
		return nil
	}
	u, err := oauth.Resource(h.e.Address)
	if err != nil {
		return nil
	}
	return u
}

// namesServer reports whether an endpoint with the challenge ch names an authorization server.
func (h *Sniffer) namesServer(u *url.URL, ch *oauth.Challenge) bool {
	ctx := cmp.Or(h.run.Signal, context.Background())
	ctx, cancel := context.WithTimeout(ctx, h.cl.Share(discoverTimeout))
	defer cancel()
	c := oauth.NewClient(h.run.Opened.Transport)
	defer c.Close()
	return c.Offers(ctx, u, ch)
}

// moreScopes returns the command that logs in for u with further scopes in addition to the present ones.
func (h *Sniffer) moreScopes(u *url.URL, scopes []string) []string {
	account, _ := h.run.Line.Value("account").(*string)
	l, err := oauth.Find(u, account)
	if l == nil || err != nil || len(scopes) == 0 {
		return nil
	}
	all := oauth.Scopes(l.Requested, l.Granted, scopes)
	if slices.ContainsFunc(all, func(s string) bool { return !cmdline.IsSafeName(s) }) {
		return nil
	}
	return h.run.Line.ForLogin("--scope=" + strings.Join(all, " "))
}
