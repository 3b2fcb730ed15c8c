package oauth

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/transport"
)

// A User is the interface to the user who logs in.
type User struct {
	// Visit shows the user the URL of a page.
	Visit func(page string)
	// Code shows the user the URL of a page and the code to type there.
	Code func(page, code string)
	// Pasted receives the URLs that the user pastes if the browser's redirect cannot reach this machine. It may be nil.
	Pasted <-chan string
	// Warn shows the user why a pasted URL is not the response.
	Warn func(text string)
}

// Code logs a user in with a browser, an authorization code and PKCE (RFC 6749, 7636, 9207).
func (c *Client) Code(ctx context.Context, f *Found, w Want, user User) (*Login, error) {
	s := &f.Server
	if !slices.Contains(s.Challenges, "S256") {
		return nil, wire.NewFault(wire.Auth, s.Issuer+" does not advertise PKCE with S256: a code could be stolen", nil)
	}
	page, err := safe(s.Authorization)
	if err != nil {
		return nil, err
	}
	answers := make(chan url.Values)
	redirect, stop, err := receive(w.RedirectURI, answers)
	if err != nil {
		return nil, err
	}
	defer stop()
	if user.Pasted == nil && isElsewhere(w.RedirectURI) {
		return nil, wire.Usagef("--redirect-uri %s does not lead to this machine; add --no-browser, and paste the address of the final page", w.RedirectURI)
	}
	l, err := c.begin(ctx, f, w, redirect, codeGrant)
	if err != nil {
		return nil, err
	}
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	query := page.Query()
	maps.Copy(query, l.apply(url.Values{
		"response_type": {"code"}, "client_id": {l.ClientID}, "redirect_uri": {redirect}, "state": {state},
		"code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "code_challenge_method": {"S256"},
	}))
	page.RawQuery = query.Encode()
	user.Visit(page.String())
	code, err := s.await(ctx, state, w.RedirectURI, answers, user)
	if err != nil {
		return nil, err
	}
	redact.Sent(code)
	return l, c.grant(ctx, l, url.Values{"grant_type": {codeGrant}, "code": {code}, "redirect_uri": {redirect}, "code_verifier": {verifier}})
}

// await returns the code of the first response with the right state. Responses with another state are forged or belong to
// another login, so await ignores them, and warns of those that the user pastes.
func (s *Server) await(ctx context.Context, state, redirect string, answers <-chan url.Values, user User) (string, error) {
	for {
		var answer url.Values
		select {
		case answer = <-answers:
		case text, ok := <-user.Pasted:
			if !ok && isElsewhere(redirect) {
				return "", wire.Usagef("the input ended without the address of the final page, and --redirect-uri %s does not lead to this machine", redirect)
			}
			if !ok {
				user.Pasted = nil
				continue
			}
			var problem string
			if answer, problem = parsePasted(text, state); problem != "" {
				user.Warn(problem + "; paste the address of the page that follows the login")
				continue
			}
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		if answer.Get("state") == state {
			return s.code(answer)
		}
	}
}

// parsePasted returns the response in the URL that a user has pasted, or why it is not the response to this login.
func parsePasted(text, state string) (answer url.Values, problem string) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.RawQuery == "" {
		return nil, "the pasted text is not an address with a code"
	}
	answer = u.Query()
	switch {
	case answer.Get("state") != state:
		return nil, "the pasted address belongs to another login (its state differs)"
	case answer.Get("code") == "" && answer.Get("error") == "":
		return nil, "the pasted address has no code"
	}
	return answer, ""
}

// code returns the code in a response. It first checks the issuer (RFC 9207), because even an error from another server must
// not count.
func (s *Server) code(answer url.Values) (string, error) {
	issuer, has := answer["iss"]
	switch {
	case has && (len(issuer) != 1 || issuer[0] != s.Issuer):
		return "", wire.NewFault(wire.Protocol, fmt.Sprintf("the response is from another authorization server: iss is %q, not %q", transport.FirstLine([]byte(issuer[0])), s.Issuer), nil)
	case !has && s.SendsIssuer:
		return "", wire.NewFault(wire.Protocol, "the response lacks iss, which "+s.Issuer+" has announced", nil)
	case answer.Get("error") != "":
		return "", refused(s.Issuer, 0, answer.Get("error"), answer.Get("error_description"))
	case answer.Get("code") == "":
		return "", wire.NewFault(wire.Protocol, s.Issuer+": the response has no code", nil)
	}
	return answer.Get("code"), nil
}

// isElsewhere reports whether a redirect URI leads to another machine.
func isElsewhere(redirect string) bool {
	u, err := url.Parse(redirect)
	return err == nil && redirect != "" && !(u.Scheme == "http" && isLoopback(u.Hostname()))
}

// receive listens for the browser at a redirect URI of this machine, on a free port unless the URI has one. It sends the
// query of each request to answers. It returns a URI of another machine unchanged.
func receive(uri string, answers chan<- url.Values) (redirect string, stop func(), err error) {
	u, err := url.Parse(cmp.Or(uri, "http://127.0.0.1/callback"))
	switch {
	case err != nil || u.Scheme == "" || u.Fragment != "":
		return "", nil, wire.Usagef("--redirect-uri: %q is not a usable URI", uri)
	case isElsewhere(uri) && u.Scheme == "http":
		return "", nil, wire.Usagef("--redirect-uri: http is for this machine only; use https")
	case isElsewhere(uri):
		return uri, func() {}, nil
	}
	host := u.Hostname()
	if host == "localhost" {
		host = "127.0.0.1"
	}
	in, err := net.Listen("tcp", net.JoinHostPort(host, cmp.Or(u.Port(), "0")))
	if err != nil {
		return "", nil, wire.NewFault(wire.Unreachable, "cannot listen for the browser: "+err.Error(), err)
	}
	if _, port, _ := net.SplitHostPort(in.Addr().String()); u.Port() == "" || u.Port() == "0" {
		u.Host = net.JoinHostPort(u.Hostname(), port)
	}
	return u.String(), serveAnswers(in, cmp.Or(u.Path, "/"), answers), nil
}

// serveAnswers sends the queries of GET requests for path to answers. The returned function stops it.
func serveAnswers(in net.Listener, path string, answers chan<- url.Values) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != path {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("rpcx has received the response. You can close this page; the result is in the terminal.\n"))
		_ = http.NewResponseController(w).Flush()
		select {
		case answers <- r.URL.Query():
		case <-ctx.Done():
		}
	})}
	go func() {
		defer wire.Guard()
		_ = server.Serve(in)
	}()
	return func() {
		cancel()
		end, done := context.WithTimeout(context.Background(), time.Second)
		defer done()
		if server.Shutdown(end) != nil {
			_ = server.Close()
		}
	}
}

// Device logs a user in with a code that the user types on any device (RFC 8628).
func (c *Client) Device(ctx context.Context, f *Found, w Want, user User) (*Login, error) {
	if f.Server.Device == "" {
		return nil, wire.NewFault(wire.Auth, f.Server.Issuer+" does not support device login", nil)
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
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && !d.Expiry.IsZero() && !time.Now().Before(d.Expiry) {
		return nil, wire.NewFault(wire.Auth, "the code has expired", err)
	}
	return l, c.take(ctx, l, t, err)
}
