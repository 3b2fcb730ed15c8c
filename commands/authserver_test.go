package commands

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// An authServer is an authorization server and, at another address, the endpoint that it protects, both written by hand from
// the RFCs. In a script,
//
//	oauth FILE OPTION...
//
// starts it, sets $AT to the endpoint's URL (http://HOST/mcp) and $ISSUER to the authorization server's, and writes a line to
// FILE for each relevant request. The options are:
type authServer struct {
	o         map[string]string
	at        *httptest.Server // the endpoint
	as        *httptest.Server
	mu        sync.Mutex
	log       string
	clients   map[string]authClient
	codes     map[string]url.Values // authorization requests by code
	tokens    map[string]string     // scopes by access token
	refreshes map[string]string     // scopes by refresh token
	polls     int
	n         int
}

type authClient struct {
	secret, method string
	redirects      []string
}

var authOptions = []string{
	"oidc",           // only OpenID's metadata exists
	"tenant",         // the issuer has a path
	"root",           // the resource's metadata is at the root of the server, and describes the root
	"noprm",          // the endpoint names no authorization server
	"nochallenge",    // the 401 of the endpoint has no WWW-Authenticate
	"legacy",         // the endpoint is its own authorization server, without metadata
	"expires",        // the lifetime of a token in seconds
	"issuer",         // the issuer in the metadata
	"resource",       // the resource in its own metadata
	"prm",            // the address of the resource's metadata
	"methods",        // the methods by which clients can authenticate
	"noregistration", // clients cannot register
	"document",       // a client can have a metadata document
	"offline",        // the scope offline_access is supported
	"norefresh",      // tokens cannot be refreshed
	"norevocation",   // tokens cannot be revoked
	"type",           // the token_type in responses
	"silent",         // requests to refresh a token get no response
}

func oauthCommand(ts *testscript.TestScript, _ bool, args []string) {
	o := map[string]string{}
	for _, option := range args[1:] {
		name, value, _ := strings.Cut(option, "=")
		if !slices.Contains(authOptions, name) {
			ts.Fatalf("oauth has no option %s", name)
		}
		o[name] = value
	}
	s := startAuthServer(o, ts.MkAbs(args[0]))
	ts.Defer(s.at.Close)
	ts.Defer(s.as.Close)
	ts.Setenv("AT", s.at.URL+"/mcp")
	ts.Setenv("ISSUER", s.issuer())
	authServers.Store(s.issuer(), s)
	ts.Check(os.WriteFile(s.log, nil, 0o600))
}

func startAuthServer(o map[string]string, log string) *authServer {
	s := &authServer{o: o, log: log, clients: map[string]authClient{
		"known":                          {"s3cret-of-known", "", []string{"http://127.0.0.1/callback"}},
		"posts":                          {"s3cret-of-known", "client_secret_post", []string{"http://127.0.0.1/callback"}},
		"https://client.example/me.json": {"", "", []string{"http://127.0.0.1/callback"}},
	}, codes: map[string]url.Values{}, tokens: map[string]string{"pasted-token": "read"}, refreshes: map[string]string{}}
	s.at, s.as = httptest.NewServer(http.HandlerFunc(s.endpoint)), httptest.NewServer(http.HandlerFunc(s.server))
	return s
}

// authServers maps a server's URL to the server.
var authServers sync.Map

// oauthForgetCommand invalidates the access token in a file ("oauth-forget FILE"), or all access and refresh tokens ("oauth-forget
// all"). oauthStopCommand stops the authorization server.
func oauthForgetCommand(ts *testscript.TestScript, _ bool, args []string) {
	v, _ := authServers.Load(ts.Getenv("ISSUER"))
	s := v.(*authServer)
	s.mu.Lock()
	defer s.mu.Unlock()
	if args[0] == "all" {
		clear(s.refreshes)
		clear(s.tokens)
		return
	}
	delete(s.tokens, strings.TrimSpace(ts.ReadFile(args[0])))
}

func oauthStopCommand(ts *testscript.TestScript, _ bool, _ []string) {
	v, _ := authServers.Load(ts.Getenv("ISSUER"))
	v.(*authServer).as.Close()
}

func (s *authServer) has(option string) bool {
	_, ok := s.o[option]
	return ok
}

func (s *authServer) or(option, usual string) string {
	if value := s.o[option]; value != "" {
		return value
	}
	return usual
}

func (s *authServer) issuer() string {
	switch {
	case s.has("tenant"):
		return s.as.URL + "/tenant"
	case s.has("legacy"):
		return s.at.URL
	}
	return s.as.URL
}

func (s *authServer) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := os.OpenFile(s.log, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		fmt.Fprintf(f, format+"\n", args...)
		f.Close()
	}
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// endpoint serves the protected resource (RFC 6750, RFC 9728).
func (s *authServer) endpoint(w http.ResponseWriter, r *http.Request) {
	const place = "/.well-known/oauth-protected-resource"
	metadata, resource := s.at.URL+place+"/mcp", s.at.URL+"/mcp"
	if s.has("root") {
		metadata, resource = s.at.URL+place, s.at.URL
	}
	switch {
	case s.has("legacy") && r.URL.Path != "/mcp":
		s.server(w, r)
		return
	case strings.HasPrefix(r.URL.Path, place) && s.at.URL+r.URL.Path == metadata && !s.has("noprm") && !s.has("legacy"):
		reply(w, http.StatusOK, map[string]any{
			"resource": s.or("resource", resource), "authorization_servers": []string{s.issuer()}, "scopes_supported": []string{"read"},
		})
		return
	case r.URL.Path != "/mcp":
		http.NotFound(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	_ = json.Unmarshal(body, &m)
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	scope, ok := s.tokens[token]
	s.mu.Unlock()
	challenge := ""
	if !s.has("noprm") && !s.has("legacy") {
		challenge = `, resource_metadata="` + s.or("prm", metadata) + `"`
	}
	switch {
	case !ok:
		if !s.has("nochallenge") {
			w.Header().Set("WWW-Authenticate", `Bearer realm="a, b"`+challenge)
		}
		s.note("endpoint 401 %s", m.Method)
		http.Error(w, "who?", http.StatusUnauthorized)
	case m.Method == "write" && !slices.Contains(strings.Fields(scope), "write"):
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="write"`+challenge)
		http.Error(w, "not enough", http.StatusForbidden)
	case m.Method == "rpc.discover":
		reply(w, http.StatusOK, map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": json.RawMessage(
			`{"openrpc":"1.3.2","info":{"title":"t","version":"1"},"methods":[{"name":"whoami","params":[],"result":{"name":"r","schema":{}}}]}`)})
	default:
		s.note("endpoint %s", m.Method)
		reply(w, http.StatusOK, map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": map[string]string{"scope": scope, "echo": token}})
	}
}

func (s *authServer) server(w http.ResponseWriter, r *http.Request) {
	tenant := strings.TrimPrefix(strings.TrimPrefix(s.issuer(), s.as.URL), s.at.URL)
	path := strings.TrimPrefix(r.URL.Path, tenant)
	_ = r.ParseForm()
	switch {
	case strings.HasPrefix(path, "/.well-known/"):
		want := "/.well-known/oauth-authorization-server" + tenant
		if s.has("oidc") {
			want = tenant + "/.well-known/openid-configuration"
		}
		if r.URL.Path != want || s.has("legacy") {
			http.NotFound(w, r)
			return
		}
		reply(w, http.StatusOK, s.metadata())
	case path == "/authorize":
		s.authorize(w, r)
	case path == "/register":
		s.register(w, r)
	case path == "/device":
		s.note("device %s", formText(r.Form))
		reply(w, http.StatusOK, map[string]any{"device_code": "a-device-code", "user_code": "ABCD-EFGH", "verification_uri": s.as.URL + "/type", "expires_in": 60, "interval": 1})
	case path == "/token":
		s.grant(w, r)
	case path == "/revoke":
		s.mu.Lock()
		delete(s.tokens, r.Form.Get("token"))
		delete(s.refreshes, r.Form.Get("token"))
		s.mu.Unlock()
		s.note("revoke %s", r.Form.Get("token_type_hint"))
	default:
		http.NotFound(w, r)
	}
}

func (s *authServer) metadata() map[string]any {
	base := s.issuer()
	m := map[string]any{
		"issuer": s.or("issuer", base), "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token", "response_types_supported": []string{"code"},
		"device_authorization_endpoint": base + "/device", "authorization_response_iss_parameter_supported": true, "code_challenge_methods_supported": []string{"plain", "S256"},
	}
	if !s.has("norevocation") {
		m["revocation_endpoint"] = base + "/revoke"
	}
	if !s.has("noregistration") {
		m["registration_endpoint"] = base + "/register"
	}
	if s.has("methods") {
		m["token_endpoint_auth_methods_supported"] = strings.Split(s.o["methods"], ",")
	}
	if s.has("document") {
		m["client_id_metadata_document_supported"] = true
	}
	if s.has("offline") {
		m["scopes_supported"] = []string{"read", "write", "offline_access"}
	}
	return m
}

// formText returns a form as one line, with only the names of values that vary between runs.
func formText(form url.Values) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(form)) {
		switch name {
		case "state", "code_challenge", "code", "code_verifier", "refresh_token", "client_secret", "client_assertion", "device_code":
			words = append(words, name)
		default:
			words = append(words, name+"="+form.Get(name))
		}
	}
	return strings.Join(words, " ")
}

func (s *authServer) authorize(w http.ResponseWriter, r *http.Request) {
	s.note("authorize %s", formText(r.Form))
	s.mu.Lock()
	client, ok := s.clients[r.Form.Get("client_id")]
	s.n++
	code := fmt.Sprintf("a-code-%d", s.n)
	s.codes[code] = r.Form
	s.mu.Unlock()
	back, _ := url.Parse(r.Form.Get("redirect_uri"))
	plain := *back
	if plain.Scheme == "http" {
		plain.Host = plain.Hostname() // RFC 8252 allows any port of the loopback interface
	}
	if !ok || !slices.Contains(client.redirects, back.String()) && !slices.Contains(client.redirects, plain.String()) || r.Form.Get("code_challenge_method") != "S256" || r.Form.Get("response_type") != "code" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	back.RawQuery = url.Values{"state": {r.Form.Get("state")}, "code": {code}, "iss": {s.issuer()}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (s *authServer) register(w http.ResponseWriter, r *http.Request) {
	var m struct {
		Type      string   `json:"application_type"`
		Method    string   `json:"token_endpoint_auth_method"`
		Grants    []string `json:"grant_types"`
		Redirects []string `json:"redirect_uris"`
	}
	_ = json.NewDecoder(r.Body).Decode(&m)
	s.note("register %s %s %s", m.Type, m.Method, strings.Join(m.Grants, " "))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	id := fmt.Sprintf("client-%d", s.n)
	c := authClient{"", m.Method, m.Redirects}
	answer := map[string]any{"client_id": id, "token_endpoint_auth_method": m.Method}
	if m.Method != "none" {
		c.secret = "s3cret-of-" + id
		answer["client_secret"] = c.secret
	}
	s.clients[id] = c
	reply(w, http.StatusCreated, answer)
}

// authenticate returns the client of a token request and its method, or "" if authentication failed.
func (s *authServer) authenticate(r *http.Request) (id, method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id, secret, ok := r.BasicAuth(); ok {
		if c := s.clients[id]; secret == c.secret && c.method != "client_secret_post" {
			return id, "basic"
		}
		return id, ""
	}
	id = r.Form.Get("client_id")
	switch c, known := s.clients[id]; {
	case !known:
		return id, ""
	case r.Form.Get("client_assertion") != "":
		part := strings.Split(r.Form.Get("client_assertion"), ".")
		var bytes [3][]byte
		for i := range bytes {
			bytes[i], _ = base64.RawURLEncoding.DecodeString(part[i])
		}
		var c struct {
			Iss, Sub, Aud, Alg string
			Exp                int64
		}
		_ = json.Unmarshal(bytes[1], &c)
		_ = json.Unmarshal(bytes[0], &c)
		if c.Iss == id && c.Sub == id && c.Aud == s.issuer() && c.Exp > time.Now().Unix() && isSigned(c.Alg, part[0]+"."+part[1], bytes[2]) {
			return id, "jwt-" + c.Alg
		}
		return id, ""
	case r.Form.Get("client_secret") != "":
		if r.Form.Get("client_secret") == c.secret {
			return id, "post"
		}
		return id, ""
	}
	return id, "none"
}

func (s *authServer) grant(w http.ResponseWriter, r *http.Request) {
	id, method := s.authenticate(r)
	s.note("token %s %s", method, formText(r.Form))
	if s.has("silent") && r.Form.Get("grant_type") == "refresh_token" {
		<-r.Context().Done()
		return
	}
	fail := func(code string) { reply(w, http.StatusBadRequest, map[string]string{"error": code}) }
	if method == "" {
		fail("invalid_client")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var scope string
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		asked := s.codes[r.Form.Get("code")]
		delete(s.codes, r.Form.Get("code"))
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if asked == nil || asked.Get("client_id") != id || asked.Get("redirect_uri") != r.Form.Get("redirect_uri") || asked.Get("resource") != r.Form.Get("resource") ||
			base64.RawURLEncoding.EncodeToString(sum[:]) != asked.Get("code_challenge") {
			fail("invalid_grant")
			return
		}
		scope = asked.Get("scope")
	case "refresh_token":
		known, ok := s.refreshes[r.Form.Get("refresh_token")]
		if !ok {
			fail("invalid_grant")
			return
		}
		delete(s.refreshes, r.Form.Get("refresh_token"))
		scope = known
	case "client_credentials":
		scope = r.Form.Get("scope")
	case "urn:ietf:params:oauth:grant-type:device_code":
		if s.polls++; s.polls < 2 {
			fail("authorization_pending")
			return
		}
		scope = "read"
	default:
		fail("unsupported_grant_type")
		return
	}
	s.n++
	access, refresh := fmt.Sprintf("an-access-token-%d", s.n), fmt.Sprintf("a-refresh-token-%d", s.n)
	s.tokens[access] = scope
	answer := map[string]any{"access_token": access, "token_type": s.or("type", "bearer"), "scope": scope}
	if s.has("expires") {
		var seconds int
		_, _ = fmt.Sscan(s.o["expires"], &seconds)
		answer["expires_in"] = seconds
	}
	if !s.has("norefresh") && r.Form.Get("grant_type") != "client_credentials" {
		s.refreshes[refresh] = scope
		answer["refresh_token"] = refresh
	}
	reply(w, http.StatusOK, answer)
}

// authKeys are the public keys of ec.pem, rsa.pem and ed.pem, which `oauth-keys` writes together with forged.pem.
var authKeys struct {
	ec  *ecdsa.PrivateKey
	rsa *rsa.PrivateKey
	ed  ed25519.PrivateKey
}

func oauthKeysCommand(ts *testscript.TestScript, _ bool, _ []string) {
	forged, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	authKeys.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	authKeys.rsa, err = rsa.GenerateKey(rand.Reader, 2048)
	ts.Check(err)
	_, authKeys.ed, err = ed25519.GenerateKey(rand.Reader)
	ts.Check(err)
	for name, key := range map[string]any{"ec.pem": authKeys.ec, "rsa.pem": authKeys.rsa, "ed.pem": authKeys.ed, "forged.pem": forged} {
		b, err := x509.MarshalPKCS8PrivateKey(key)
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(name), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: b}), 0o600))
	}
}

// isSigned checks the signature of a JWT (RFC 7515, appendix A).
func isSigned(algorithm, text string, sig []byte) bool {
	sum := sha256.Sum256([]byte(text))
	switch algorithm {
	case "ES256":
		return len(sig) == 64 && ecdsa.Verify(&authKeys.ec.PublicKey, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:]))
	case "RS256":
		return rsa.VerifyPKCS1v15(&authKeys.rsa.PublicKey, crypto.SHA256, sum[:], sig) == nil
	case "EdDSA":
		return ed25519.Verify(authKeys.ed.Public().(ed25519.PublicKey), []byte(text), sig)
	}
	return false
}

// browserProgram acts as a browser: it requests the URL in its argument and follows redirects. With --stay, it prints the first
// redirect and exits.
func browserProgram() {
	if os.Args[1] == "--stay" {
		http.DefaultClient.CheckRedirect = func(req *http.Request, _ []*http.Request) error {
			fmt.Println(req.URL)
			os.Exit(0)
			return nil
		}
	}
	resp, err := http.Get(os.Args[len(os.Args)-1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		os.Exit(1)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		fmt.Fprintln(os.Stderr, "browser:", resp.Status, string(b))
		os.Exit(1)
	}
}
