package oauth

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/scan"
	"rpcx/wire/userfile"
)

// Methods of client authentication at an authorization server.
const (
	methodNone  = "none"
	methodBasic = "client_secret_basic"
	methodPost  = "client_secret_post"
	methodJWT   = "private_key_jwt"
)

// chooseMethod returns the authentication method of a client with these credentials at s. By default, it is basic (RFC
// 8414).
func (s *Server) chooseMethod(secret, key string) string {
	switch {
	case key != "":
		return methodJWT
	case secret == "":
		return methodNone
	case slices.Contains(s.Methods, methodPost) && !slices.Contains(s.Methods, methodBasic):
		return methodPost
	}
	return methodBasic
}

// grant sends a grant to the token endpoint and stores the tokens of the response in l.
func (c *Client) grant(ctx context.Context, l *Login, form url.Values) error {
	if _, err := safe(l.TokenEndpoint); err != nil {
		return err
	}
	redact.Sent(l.Secret, form.Get("code"), form.Get("refresh_token"), form.Get("code_verifier"))
	form, err := l.authenticated(form)
	if err != nil {
		return err
	}
	cfg := clientcredentials.Config{ClientID: l.ClientID, ClientSecret: l.Secret, TokenURL: l.TokenEndpoint, AuthStyle: l.style(), EndpointParams: form}
	if l.Method == methodJWT {
		cfg.ClientSecret = ""
	}
	t, err := cfg.Token(c.context(ctx))
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok && e.ErrorCode == "invalid_client" && l.Method == methodBasic && l.acceptsPost {
		l.Method, cfg.AuthStyle = methodPost, oauth2.AuthStyleInParams // the client may be registered for this method only
		t, err = cfg.Token(c.context(ctx))
	}
	return c.take(ctx, l, t, err)
}

// context returns ctx with the HTTP client for the oauth2 library.
func (c *Client) context(ctx context.Context) context.Context {
	keep := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: exchange{c}, CheckRedirect: keep})
}

// An exchange sends the requests of the oauth2 library, whose own errors would hide why there is no complete response.
type exchange struct{ c *Client }

// RoundTrip implements http.RoundTripper.
func (e exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, body, err := e.c.do(req)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

func (c *Client) take(ctx context.Context, l *Login, t *oauth2.Token, err error) error {
	if err != nil {
		return l.fault(ctx, err)
	}
	if t.TokenType != "" && !strings.EqualFold(t.TokenType, "bearer") {
		return wire.NewFault(wire.Protocol, l.TokenEndpoint+": the token is not a bearer token", nil)
	}
	if !isToken(t.AccessToken) {
		return wire.NewFault(wire.Protocol, l.TokenEndpoint+": the token has characters that a header cannot have", nil)
	}
	redact.Sent(t.AccessToken, t.RefreshToken)
	l.Access, l.Expiry = t.AccessToken, t.Expiry
	if t.RefreshToken != "" {
		l.Refresh = t.RefreshToken
	}
	l.Renews = l.Machine || l.Refresh != ""
	if granted, ok := t.Extra("scope").(string); ok && granted != "" {
		l.Granted = strings.Fields(granted)
	}
	return nil
}

// fault returns the failure of a request to the token endpoint.
func (l *Login) fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if f := wire.AsFault(err); f != nil {
		if f.Kind == wire.Closed { // the status of a call must not say that the peer may have received it
			f.Kind = wire.Unreachable
		}
		return f
	}
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		if status := e.Response.StatusCode; status == http.StatusNotFound || status == http.StatusMethodNotAllowed {
			return unavailable(l.TokenEndpoint, status)
		}
		return refused(l.TokenEndpoint, e.Response.StatusCode, e.ErrorCode, e.ErrorDescription)
	}
	return notJSON(l.TokenEndpoint) // the library has no other errors
}

// style returns how the library sends the client's credentials.
func (l *Login) style() oauth2.AuthStyle {
	if l.Method == methodBasic {
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleInParams
}

// authenticated adds the resource to form, and an assertion of the client's key if the client has one.
func (l *Login) authenticated(form url.Values) (url.Values, error) {
	if !l.NoResource {
		form.Set("resource", l.Resource)
	}
	if l.Method != methodJWT {
		return form, nil
	}
	assertion, err := l.signed()
	form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	form.Set("client_assertion", assertion)
	return form, err
}

// assertionLife is how long an assertion is valid.
const assertionLife = time.Minute

// signed returns a JWT (RFC 7523) that proves to the issuer that the client has its private key.
func (l *Login) signed() (string, error) {
	text, err := l.KeyText, error(nil)
	if text == nil {
		text, err = userfile.Read(l.Key)
	}
	if err != nil {
		return "", wire.NewFault(wire.Usage, "--client-key: "+err.Error(), err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return "", wire.Usagef("--client-key: %s contains no PEM data", l.Key)
	}
	var key any
	for _, parse := range []func([]byte) (any, error){
		x509.ParsePKCS8PrivateKey,
		func(b []byte) (any, error) { return x509.ParsePKCS1PrivateKey(b) },
		func(b []byte) (any, error) { return x509.ParseECPrivateKey(b) },
	} {
		if key, err = parse(block.Bytes); err == nil {
			break
		}
	}
	var head, claims scan.Object
	name, hash := algorithm(key)
	if name == "" {
		return "", wire.Usagef("--client-key: %s contains no private key of type RSA, P-256, P-384, P-521 or Ed25519", l.Key)
	}
	head.Text("alg", name)
	head.Text("typ", "JWT")
	now := time.Now()
	claims.Text("iss", l.ClientID)
	claims.Text("sub", l.ClientID)
	claims.Text("aud", l.Issuer)
	claims.Text("jti", rand.Text())
	claims.Int("iat", now.Unix())
	claims.Int("exp", now.Add(assertionLife).Unix())
	encode := base64.RawURLEncoding.EncodeToString
	body := encode(head.End()) + "." + encode(claims.End())
	sig, err := sign(key, hash, []byte(body))
	return body + "." + encode(sig), err
}

// algorithm returns a key's JWT algorithm (RFC 7518, 8037), which is "" if the type of key is not supported, and the hash
// that it signs, which is 0 for the text itself.
func algorithm(key any) (name string, hash crypto.Hash) {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return "RS256", crypto.SHA256
	case ed25519.PrivateKey:
		return "EdDSA", 0
	case *ecdsa.PrivateKey:
		switch k.Curve {
		case elliptic.P256():
			return "ES256", crypto.SHA256
		case elliptic.P384():
			return "ES384", crypto.SHA384
		case elliptic.P521():
			return "ES512", crypto.SHA512
		}
	}
	return "", 0
}

// sign returns the signature of a text in the form that JWTs have.
func sign(key any, hash crypto.Hash, text []byte) ([]byte, error) {
	sig, err := crypto.SignMessage(key.(crypto.Signer), rand.Reader, text, hash)
	k, ok := key.(*ecdsa.PrivateKey)
	if err != nil || !ok {
		return sig, err
	}
	var point struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(sig, &point); err != nil {
		return nil, err
	}
	size := (k.Curve.Params().BitSize + 7) / 8
	return append(point.R.FillBytes(make([]byte, size)), point.S.FillBytes(make([]byte, size))...), nil
}
