package oauth

import (
	"context"
	"net/url"

	"golang.org/x/oauth2"

	"rpcx/wire"
)

// Device logs a user in with a code that the user types on any device (RFC 8628).
func (c *Client) Device(ctx context.Context, f *Found, w Want, user User) (*Login, error) {
	if f.Server.Device == "" {
		return nil, wire.NewFault(wire.Auth, f.Server.Issuer+" has no login by device", nil)
	}
	l, err := c.begin(ctx, f, w, "", deviceGrant)
	if err != nil {
		return nil, err
	}
	form, err := l.authenticated(l.apply(url.Values{"client_id": {l.ClientID}}))
	if err != nil {
		return nil, err
	}
	var d oauth2.DeviceAuthResponse
	if err := c.postForm(ctx, l, f.Server.Device, form, &d); err != nil {
		return nil, err
	}
	if d.DeviceCode == "" || d.VerificationURI == "" {
		return nil, wire.NewFault(wire.Protocol, f.Server.Device+": the response has no code", nil)
	}
	user.Code(d.VerificationURI, d.UserCode)
	cfg := oauth2.Config{ClientID: l.ClientID, ClientSecret: l.Secret, Endpoint: oauth2.Endpoint{TokenURL: l.TokenEndpoint, AuthStyle: l.style()}}
	more := []oauth2.AuthCodeOption{}
	if form, err = l.authenticated(url.Values{}); err != nil {
		return nil, err
	}
	for name := range form {
		more = append(more, oauth2.SetAuthURLParam(name, form.Get(name)))
	}
	t, err := cfg.DeviceAccessToken(c.context(ctx), &d, more...)
	return l, c.take(ctx, l, t, err)
}
