package oauth

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
	"rpcx/wire/userfile"
)

// A Login is a stored login: its tokens and the data for renewing them.
type Login struct {
	Issuer   string `json:"issuer,omitempty"` // "" if the user gave the token
	Resource string `json:"resource"`
	Account  string `json:"account,omitempty"`

	ClientID string `json:"client_id,omitempty"`
	Method   string `json:"method,omitempty"` // how the client authenticates
	Key      string `json:"key,omitempty"`    // the file of its private key

	TokenEndpoint string   `json:"token_endpoint,omitempty"`
	Revocation    string   `json:"revocation_endpoint,omitempty"`
	Machine       bool     `json:"client_credentials,omitempty"` // the login is renewed with the client's credentials
	Requested     []string `json:"requested,omitempty"`
	Granted       []string `json:"granted,omitempty"`
	Params        []Param  `json:"params,omitempty"` // additional parameters of requests with the client's credentials
	NoResource    bool     `json:"no_resource,omitempty"`

	Expiry  time.Time `json:"expiry,omitzero"`
	Renews  bool      `json:"renews,omitempty"`  // the login can be renewed without the user
	Keyring bool      `json:"keyring,omitempty"` // the keyring stores the secrets
	secrets

	acceptsPost bool // the server also accepts client_secret_post
}

// secrets are the members of a Login that the keyring stores.
type secrets struct {
	Access  string `json:"access_token,omitempty"`
	Refresh string `json:"refresh_token,omitempty"`
	Secret  string `json:"client_secret,omitempty"`
	KeyText []byte `json:"client_key,omitempty"` // the private key if its file can be read only once
}

// A Param is an additional parameter that a provider requires. An empty value removes a usual parameter.
type Param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Want is what the user requests for a login.
type Want struct {
	Account     string
	ClientID    string
	Secret      string
	Key         string // the file of the client's private key (KeyFile)
	KeyText     []byte // the content of Key if it can be read only once
	Document    string // the URL of the client's metadata document
	RedirectURI string // "" for a free port on this machine
	Scopes      []string
	Params      []Param
}

// Scopes returns the union of scopes without duplicates.
func Scopes(lists ...[]string) (all []string) {
	for _, s := range slices.Concat(lists...) {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// Scopes returns the known scopes of the login.
func (l *Login) Scopes() []string {
	if l.Granted != nil {
		return l.Granted
	}
	return l.Requested
}

// WithToken returns a login with a token that the user supplies.
func WithToken(resource *url.URL, account, token string) (*Login, error) {
	if token == "" || !isToken(token) {
		return nil, wire.Usagef("stdin must contain a token: one line of visible characters")
	}
	redact.Sent(token)
	return &Login{Resource: resource.String(), Account: account, secrets: secrets{Access: token}}, nil
}

// isToken reports whether text is a valid token for a header.
func isToken(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// KeyFile sets the file of the client's key, which is read at each renewal. "" means no key. If the file is a stream,
// the login stores its content.
func (w *Want) KeyFile(name string) error {
	if name == "" {
		return nil
	}
	w.Key = name
	l := Login{Key: name}
	if _, err := l.signed(); err != nil {
		return err
	}
	if w.KeyText = userfile.Kept(name); w.KeyText != nil {
		return nil
	}
	var err error
	w.Key, err = filepath.Abs(name)
	return err
}

// begin returns a login without tokens, for the client that the user names or that it registers. A client is registered
// for one redirect and one grant.
func (c *Client) begin(ctx context.Context, f *Found, w Want, redirect, grant string) (*Login, error) {
	s := &f.Server
	l := &Login{
		Issuer: s.Issuer, Resource: f.Resource, Account: w.Account, TokenEndpoint: s.Token, Revocation: s.Revocation,
		ClientID: w.ClientID, Key: w.Key, Params: w.Params, secrets: secrets{Secret: w.Secret, KeyText: w.KeyText},
	}
	if s.Token == "" {
		return nil, wire.NewFault(wire.Protocol, s.Issuer+": the metadata has no token_endpoint", nil)
	}
	l.NoResource = slices.ContainsFunc(w.Params, func(p Param) bool { return p.Name == "resource" })
	if l.Requested = w.Scopes; l.Requested == nil {
		l.Requested = f.Scopes
	}
	if slices.Contains(s.Scopes, "offline_access") && grant != machineGrant {
		l.Requested = Scopes(l.Requested, []string{"offline_access"})
	}
	l.Method, l.acceptsPost = s.chooseMethod(w.Secret, w.Key), slices.Contains(s.Methods, methodPost)
	switch {
	case l.ClientID != "":
	case w.Document != "" && s.MetadataDocument:
		l.ClientID = w.Document
	case w.Key != "":
		return nil, wire.NewFault(wire.Auth, s.Issuer+" does not accept client metadata documents", nil)
	case s.Registration != "" && grant != machineGrant:
		return l, c.register(ctx, s, l, redirect, grant)
	default:
		return nil, unregistered(s)
	}
	return l, nil
}

func unregistered(s *Server) error {
	hint := "register a client there, and name it with --client-id ID"
	if s.MetadataDocument {
		hint += ", or publish its metadata and give --client-metadata URL"
	}
	return wire.NewFault(wire.Auth, s.Issuer+" does not register clients", nil).WithHint(hint)
}

const (
	codeGrant    = "authorization_code"
	deviceGrant  = "urn:ietf:params:oauth:grant-type:device_code"
	machineGrant = "client_credentials"
)

// register registers a client for one login (RFC 7591): a web client if the redirect uses https, otherwise a native
// one.
func (c *Client) register(ctx context.Context, s *Server, l *Login, redirect, grant string) error {
	var o scan.Object
	o.Text("client_name", "rpcx")
	kind := "native"
	if u, err := url.Parse(redirect); err == nil && u.Scheme == "https" {
		kind = "web"
	}
	o.Text("application_type", kind)
	o.Add("grant_types", scan.TextsOf([]string{grant, "refresh_token"}))
	o.Text("token_endpoint_auth_method", s.methodToRegister())
	var redirects, responses []string // empty for a device
	if redirect != "" {
		redirects, responses = []string{redirect}, []string{"code"}
	}
	o.Add("redirect_uris", scan.TextsOf(redirects))
	o.Add("response_types", scan.TextsOf(responses))
	if len(l.Requested) > 0 {
		o.Text("scope", strings.Join(l.Requested, " "))
	}
	var client struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
		Method string `json:"token_endpoint_auth_method"`
	}
	if err := c.post(ctx, s.Registration, "application/json", o.End(), nil, &client); err != nil {
		if f := wire.AsFault(err); f != nil && f.Kind == wire.Auth {
			f.Message = "the client was not registered: " + f.Message
			f.Hint = "register a client there, and name it with --client-id ID"
		}
		return err
	}
	if client.ID == "" {
		return wire.NewFault(wire.Protocol, s.Registration+": the response has no client_id", nil)
	}
	l.ClientID, l.Secret, l.Method = client.ID, client.Secret, client.Method
	if !slices.Contains([]string{methodNone, methodBasic, methodPost}, l.Method) {
		l.Method = s.chooseMethod(client.Secret, "")
	}
	return nil
}

// methodToRegister returns the authentication method for registering a client at s. It prefers a client without a
// secret if s permits such clients.
func (s *Server) methodToRegister() string {
	for _, m := range []string{methodNone, methodBasic, methodPost} {
		if slices.Contains(s.Methods, m) {
			return m
		}
	}
	return methodNone
}

// apply sets the usual parameters of a request, and then the user's.
func (l *Login) apply(form url.Values) url.Values {
	if len(l.Requested) > 0 {
		form.Set("scope", strings.Join(l.Requested, " "))
	}
	if !l.NoResource {
		form.Set("resource", l.Resource)
	}
	for _, p := range l.Params {
		if form.Del(p.Name); p.Value != "" {
			form.Set(p.Name, p.Value)
		}
	}
	return form
}

// ClientCredentials logs in as the client itself, without a user (RFC 6749, section 4.4).
func (c *Client) ClientCredentials(ctx context.Context, f *Found, w Want) (*Login, error) {
	l, err := c.begin(ctx, f, w, "", machineGrant)
	if err != nil {
		return nil, err
	}
	if l.Method == methodNone {
		return nil, wire.Usagef("--client-credentials needs --client-secret or --client-key")
	}
	l.Machine = true
	return l, c.renew(ctx, l)
}

// renew gets new tokens without the user.
func (c *Client) renew(ctx context.Context, l *Login) error {
	if l.Machine {
		return c.grant(ctx, l, l.apply(url.Values{}))
	}
	return c.grant(ctx, l, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {l.Refresh}})
}

// revoke revokes the tokens at the authorization server (RFC 7009) if the server supports that.
func (c *Client) revoke(ctx context.Context, l *Login) error {
	if l.Revocation == "" {
		return nil
	}
	c.allowPrivate() // the login determined whether the server may be private
	for kind, token := range map[string]string{"refresh_token": l.Refresh, "access_token": l.Access} {
		if token == "" {
			continue
		}
		form, err := l.authenticated(url.Values{"token": {token}, "token_type_hint": {kind}})
		if err != nil {
			return err
		}
		form.Del("resource")
		if err := c.postForm(ctx, l, l.Revocation, form, nil); err != nil {
			return err
		}
	}
	return nil
}
