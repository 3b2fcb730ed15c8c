package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// replies are the responses of an endpoint that is its own authorization server: STATUS BODY by path, or BODY with the status
// 200. {at} stands for its URL. The body of a redirect is its address.
type replies map[string]string

const metadataPath, resourcePath = "/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp"

func metadata(members string) string {
	return `{"issuer":"{at}","authorization_endpoint":"{at}/authorize","token_endpoint":"{at}/token","registration_endpoint":"{at}/register",` +
		`"device_authorization_endpoint":"{at}/device","revocation_endpoint":"{at}/revoke","code_challenge_methods_supported":["S256"]` + members + `}`
}

var usualReplies = replies{
	"/mcp": "401 ", resourcePath: `{"resource":"{at}/mcp","authorization_servers":["{at}"],"scopes_supported":["read"]}`, metadataPath: metadata(""),
	"/register": `{"client_id":"c1"}`, "/device": `{"device_code":"d","user_code":"ABCD","verification_uri":"{at}/type","interval":1}`,
	"/token": `{"access_token":"t","refresh_token":"r"}`, "/revoke": "",
}

// A flow is a login at a server with these replies. Its fields say what the user wants and does.
type flow struct {
	replies        replies
	kind           string // code, device or machine; revoke is a login with a code and its end
	challenge      string // WWW-Authenticate
	query          string // what the browser sends in addition to the state, instead of a code
	pasted         []string
	want           Want
	fresh          bool   // another client continues after the discovery
	never          string // what must be neither in a request, such as its path, nor in the error; VISIT stands for the browser
	asked          []string
	at             string
	cancelsAtToken bool
	hangs          string // the path of a request whose response does not end
}

func (f *flow) run(t *testing.T) error {
	ctx, cancel := context.WithCancelCause(t.Context())
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply, ok := f.replies[r.URL.Path]
		if !ok {
			reply = usualReplies[r.URL.Path]
		}
		_ = r.ParseForm()
		user, secret, _ := r.BasicAuth()
		f.asked = append(f.asked, fmt.Sprintf("%s %s %s %s:%s", r.Method, r.URL.Path, r.PostForm.Encode(), user, secret))
		status, body := 404, reply
		if reply != "" || r.URL.Path == "/revoke" {
			status = 200
		}
		if head, rest, ok := strings.Cut(reply, " "); ok && len(head) == 3 {
			_, _ = fmt.Sscan(head, &status)
			body = rest
		}
		if r.URL.Path == "/mcp" {
			w.Header().Set("WWW-Authenticate", f.challenge)
		}
		if rest, ok := strings.CutPrefix(body, "{cut}"); ok {
			w.Header().Set("Content-Length", "100")
			body = rest
		}
		if r.URL.Path == "/token" && f.cancelsAtToken {
			cancel(errors.New("the user has had enough"))
			<-r.Context().Done()
		}
		body = strings.ReplaceAll(body, "{at}", s.URL)
		if status/100 == 3 {
			w.Header().Set("Location", body)
		}
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != f.hangs || strings.HasPrefix(reply, "{cut}") {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
			_ = http.NewResponseController(w).Flush()
		}
		if r.URL.Path == f.hangs {
			_, _ = io.Copy(io.Discard, r.Body) // only then the server notices the end of the connection
			<-r.Context().Done()
		}
	}))
	defer s.Close()
	f.at = s.URL
	c := NewClient(transport.Config{})
	defer c.Close()
	if f.hangs != "" {
		c.http.Timeout = time.Second
	}
	at, _ := url.Parse(s.URL + "/mcp")
	found, err := c.Discover(ctx, at, []byte("{}"), "")
	if err != nil {
		return err
	}
	if f.fresh {
		c = NewClient(transport.Config{})
		defer c.Close()
	}
	f.want.RedirectURI = strings.ReplaceAll(f.want.RedirectURI, "{at}", s.URL)
	switch f.kind {
	case "machine":
		_, err = c.ClientCredentials(ctx, found, f.want)
		return err
	case "device":
		_, err = c.Device(ctx, found, f.want, User{Code: func(string, string) {}})
		return err
	}
	pasted := make(chan string, 10)
	l, err := c.Code(ctx, found, f.want, User{Pasted: pasted, Warn: func(string) {}, Visit: func(page string) {
		f.asked = append(f.asked, "VISIT "+page)
		u, _ := url.Parse(page)
		back := u.Query().Get("redirect_uri")
		query := "?state=" + u.Query().Get("state") + f.query
		if f.query == "" {
			query += "&code=x"
		}
		if f.pasted != nil {
			for _, text := range append(f.pasted, back+query) {
				pasted <- text
			}
			close(pasted)
			return
		}
		if resp, err := http.Get(strings.Replace(back, "/callback", "/favicon.ico", 1)); err != nil || resp.StatusCode != 404 {
			t.Errorf("another page: %v, %v", resp, err)
		}
		if resp, err := http.Post(back+query, "", nil); err != nil || resp.StatusCode != 404 {
			t.Errorf("POST: %v, %v", resp, err)
		}
		go func() {
			if resp, err := http.Get(back + "?state=other&code=forged"); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body) // ends when the response has been ignored
			}
			_, _ = http.Get(back + query)
		}()
	}})
	if f.kind == "revoke" && err == nil {
		if err = l.Keep(ctx); err == nil {
			err = l.End(ctx, c)
		}
	}
	return err
}

// isolated makes a test use its own directory for logins, and no keyring.
func isolated(t *testing.T) string {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("XDG_RUNTIME_DIR", state)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	return filepath.Join(state, "rpcx", "logins")
}

// TestFailedLogins checks the Fault of each login that a server or the user makes fail.
func TestFailedLogins(t *testing.T) {
	isolated(t)
	known := Want{ClientID: "c", Secret: "s"}
	for name, c := range map[string]struct {
		f    flow
		want string // KIND: a part of the message, the hint
	}{
		"metadata with a user":       {flow{replies: replies{resourcePath: `{"resource":"{at}/mcp","authorization_servers":["https://u@h"]}`}}, "protocol: https://u@h is not a usable URL"},
		"no server, no challenge":    {flow{replies: replies{"/mcp": "{}", resourcePath: ""}}, "auth: /mcp names no authorization server, and returned 200 to a request without credentials, name one with --issuer"},
		"an error for the metadata":  {flow{replies: replies{resourcePath: "500 "}}, "unreachable: " + resourcePath + " returned 500 Internal Server Error"},
		"another protocol":           {flow{replies: replies{metadataPath: "101 "}}, "protocol: returned 101 Switching Protocols"},
		"a cut response":             {flow{replies: replies{metadataPath: `{cut}{}`}}, "closed: unexpected EOF"},
		"a large response":           {flow{replies: replies{metadataPath: strings.Repeat(" ", maxDocument+1)}}, "protocol: is larger than 1048576 bytes"},
		"deep JSON":                  {flow{replies: replies{metadataPath: `{"x":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + "}"}}, "protocol: is not the expected JSON"},
		"no token endpoint":          {flow{replies: replies{metadataPath: `{"issuer":"{at}","authorization_endpoint":"{at}/a","code_challenge_methods_supported":["S256"]}`}}, "protocol: the metadata has no token_endpoint"},
		"a key without a client":     {flow{want: Want{Key: "k"}}, "auth: does not accept client metadata documents"},
		"no registration":            {flow{kind: "device", replies: replies{metadataPath: `{"issuer":"{at}","token_endpoint":"{at}/t","device_authorization_endpoint":"{at}/d","client_id_metadata_document_supported":true}`}}, "auth: does not register clients, name it with --client-id ID, or publish its metadata and give --client-metadata URL"},
		"no address is pasted":       {flow{want: Want{ClientID: "c", RedirectURI: "https://h.example/"}, query: "&x=y", pasted: []string{}}, "usage: the input ended without the address of the final page"},
		"machines do not register":   {flow{kind: "machine"}, "auth: does not register clients, name it with --client-id ID"},
		"registration refused":       {flow{replies: replies{"/register": `400 {"error":"invalid","error_description":"no\nway"}`}}, "auth: the client was not registered, refused: invalid (no), register a client there, and name it with --client-id ID"},
		"registration elsewhere":     {flow{replies: replies{metadataPath: metadata(`,"registration_endpoint":"http://192.0.2.1/"`)}}, "protocol: http://192.0.2.1/ is neither https nor on this machine"},
		"no client id":               {flow{replies: replies{"/register": "{}"}}, "protocol: /register: the response has no client_id"},
		"no code":                    {flow{query: "&x=y"}, "protocol: the response has no code"},
		"two issuers":                {flow{query: "&code=x&iss={at}&iss={at}"}, "protocol: from another authorization server"},
		"a useless redirect":         {flow{want: Want{RedirectURI: "::"}}, `usage: --redirect-uri: "::" is not a usable URI`},
		"a redirect with #":          {flow{want: Want{RedirectURI: "http://127.0.0.1/#x"}}, "usage: is not a usable URI"},
		"a port in use":              {flow{want: Want{RedirectURI: "{at}/callback"}}, "unreachable: cannot listen for the browser, address already in use"},
		"no device login":            {flow{kind: "device", replies: replies{metadataPath: `{"issuer":"{at}","token_endpoint":"{at}/t"}`}}, "auth: does not support device login"},
		"no device code":             {flow{kind: "device", replies: replies{"/device": `{"verification_uri":"x"}`}}, "protocol: /device: the response has no code"},
		"the device is refused":      {flow{kind: "device", replies: replies{"/device": "403 "}}, "auth: refused: 403"},
		"the code has expired":       {flow{kind: "device", replies: replies{"/device": `{"device_code":"d","verification_uri":"x","expires_in":-1}`}}, "auth: the code has expired"},
		"a token in two lines":       {flow{kind: "machine", want: known, replies: replies{"/token": `{"access_token":"a\nb"}`}}, "protocol: /token: the token has characters that a header cannot have"},
		"another type of token":      {flow{kind: "machine", want: known, replies: replies{"/token": `{"access_token":"a","token_type":"mac"}`}}, "protocol: the token is not a bearer token"},
		"a token server that fails":  {flow{kind: "machine", want: known, replies: replies{"/token": `500 {"error":"server_error"}`}}, "unreachable: refused: server_error"},
		"a token server that cuts":   {flow{kind: "machine", want: known, replies: replies{"/token": "{cut}"}}, "unreachable: unexpected EOF"},
		"a token server that waits":  {flow{kind: "machine", want: known, hangs: "/token"}, "unreachable: /token: no response within 1s"},
		"a device that waits":        {flow{kind: "device", hangs: "/token"}, "unreachable: /token: no response within 1s"},
		"metadata that waits":        {flow{hangs: metadataPath}, "unreachable: " + metadataPath + ": no response within 1s"},
		"an endpoint that waits":     {flow{hangs: "/mcp"}, "unreachable: /mcp: no response within 1s"},
		"half a response":            {flow{hangs: metadataPath, replies: replies{metadataPath: `{cut}{}`}}, "unreachable: " + metadataPath + ": no response within 1s"},
		"no page for registration":   {flow{replies: replies{"/register": "404 "}}, "auth: the client was not registered, refused: 404, name it with --client-id ID"},
		"a token page":               {flow{never: "oauth2", kind: "machine", want: known, replies: replies{"/token": "<html>"}}, "protocol: /token: the response is not the expected JSON"},
		"a token in an array":        {flow{never: "oauth2", kind: "machine", want: known, replies: replies{"/token": `["t"]`}}, "protocol: /token: the response is not the expected JSON"},
		"a number as token":          {flow{never: "oauth2", kind: "machine", want: known, replies: replies{"/token": `{"access_token":5}`}}, "protocol: /token: the response is not the expected JSON"},
		"no token":                   {flow{never: "oauth2", kind: "device", replies: replies{"/token": `{"token_type":"bearer"}`}}, "protocol: /token: the response is not the expected JSON"},
		"a large token":              {flow{never: "oauth2", kind: "machine", want: known, replies: replies{"/token": strings.Repeat(" ", maxDocument+1)}}, "protocol: /token: the response is larger than 1048576 bytes"},
		"too many token requests":    {flow{kind: "machine", want: known, replies: replies{"/token": "429 slow"}}, "unreachable: /token returned 429 Too Many Requests"},
		"a token server that moved":  {flow{kind: "machine", want: known, replies: replies{"/token": `404 {"error":"Not Found"}`}}, "unreachable: /token returned 404 Not Found"},
		"a busy token server":        {flow{kind: "machine", want: known, replies: replies{"/token": `400 {"error":"temporarily_unavailable"}`}}, "unreachable: refused: temporarily_unavailable"},
		"a refusal without an error": {flow{kind: "machine", want: known, replies: replies{"/token": "401 who"}}, "auth: refused: 401"},
		"a revocation that waits":    {flow{kind: "revoke", hangs: "/revoke"}, "unreachable: /revoke: no response within 1s"},
		"a private token server":     {flow{kind: "machine", want: known, fresh: true}, "protocol: is at the private address 127.0.0.1, if you trust it, name it with --issuer URL"},
		"cancelled":                  {flow{kind: "machine", want: known, cancelsAtToken: true}, "none: the user has had enough"},
		"no secret":                  {flow{kind: "machine", want: Want{ClientID: "c"}}, "usage: --client-credentials needs --client-secret or --client-key"},
		"no key":                     {flow{kind: "machine", want: Want{ClientID: "c", Key: "missing"}}, "usage: --client-key: open missing"},
		"revocation refused":         {flow{kind: "revoke", replies: replies{"/revoke": "400 "}}, "auth: refused: 400"},
		"another issuer":             {flow{never: "/register", replies: replies{metadataPath: metadata(`,"issuer":"https://honest.example"`)}}, `protocol: issuer is "https://honest.example", which is not "http://127.0.0.1`},
		"an issuer with a slash":     {flow{replies: replies{resourcePath: `{"resource":"{at}/mcp","authorization_servers":["{at}/"]}`}}, "protocol: issuer is"},
		"a mixed-up response":        {flow{never: "/token", query: "&code=x&iss=https://other.example"}, `protocol: from another authorization server: iss is "https://other.example"`},
		"a mixed-up error":           {flow{never: "access_denied", query: "&error=access_denied&iss=https://other.example"}, "protocol: from another authorization server"},
		"no issuer":                  {flow{never: "/token", replies: replies{metadataPath: metadata(`,"authorization_response_iss_parameter_supported":true`)}}, "protocol: lacks iss"},
		"the user refuses":           {flow{never: "\x1b", query: "&error=access_denied&error_description=the+user+said+%1b[31mno"}, "auth: access_denied (the user said, no)"},
		"another resource":           {flow{never: metadataPath, replies: replies{resourcePath: `{"resource":"https://other.example/mcp","authorization_servers":["{at}"]}`}}, `protocol: resource is "https://other.example/mcp", which is not http://127.0.0.1`},
		"metadata of another host":   {flow{challenge: `Bearer resource_metadata="https://other.example/metadata"`}, "protocol: names the metadata of another host"},
		"a redirect elsewhere":       {flow{replies: replies{resourcePath: "302 https://other.example/metadata"}}, "unreachable: a redirect that rpcx does not follow"},
		"endless redirects":          {flow{replies: replies{resourcePath: "302 {at}" + resourcePath}}, "unreachable: redirected too often"},
		"a server without TLS":       {flow{replies: replies{resourcePath: `{"resource":"{at}/mcp","authorization_servers":["http://192.0.2.1"]}`}}, "protocol: http://192.0.2.1 is neither https nor on this machine"},
		"a page without TLS":         {flow{never: "VISIT", replies: replies{metadataPath: metadata(`,"authorization_endpoint":"http://192.0.2.1/authorize"`)}}, "protocol: http://192.0.2.1/authorize is neither https nor on this machine"},
		"a file as the page":         {flow{never: "VISIT", replies: replies{metadataPath: metadata(`,"authorization_endpoint":"file:///etc/passwd"`)}}, "protocol: file:///etc/passwd"},
		"a program as the page":      {flow{never: "VISIT", replies: replies{metadataPath: metadata(`,"authorization_endpoint":"javascript:alert(1)"`)}}, "protocol: javascript:alert(1)"},
		"tokens without TLS":         {flow{replies: replies{metadataPath: metadata(`,"token_endpoint":"http://192.0.2.1/token"`)}}, "protocol: http://192.0.2.1/token is neither https nor on this machine"},
		"a registration page":        {flow{replies: replies{"/register": "<html>"}}, "protocol: /register: the response is not the expected JSON"},
		"the code sent elsewhere":    {flow{replies: replies{"/token": "307 https://other.example/token"}}, "unreachable: /token returned 307, a redirect that rpcx does not follow"},
		"no PKCE":                    {flow{never: "VISIT", replies: replies{metadataPath: metadata(`,"code_challenge_methods_supported":[]`)}}, "auth: does not advertise PKCE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.f.run(t)
			kind, message := wire.FaultKind("none"), fmt.Sprint(err)
			if f := wire.AsFault(err); f != nil {
				kind, message = f.Kind, f.Message+", "+f.Hint
			}
			want, parts, _ := strings.Cut(c.want, ": ")
			ok := string(kind) == want
			for part := range strings.SplitSeq(parts, ", ") {
				ok = ok && strings.Contains(message, part)
			}
			asked := strings.Join(c.f.asked, "\n")
			if !ok || strings.Contains(asked, "forged") || c.f.never != "" && strings.Contains(asked+message, c.f.never) {
				t.Errorf("%s: %s, not %s; after\n%s", kind, message, c.want, asked)
			}
		})
	}
}

// TestRequestsOfLogins checks what a login sends, and what it stores.
func TestRequestsOfLogins(t *testing.T) {
	isolated(t)
	const post, basic = `,"token_endpoint_auth_methods_supported":["client_secret_post"]`, `,"token_endpoint_auth_methods_supported":["client_secret_basic"]`
	known := Want{ClientID: "a b", Secret: "s&"}
	for name, c := range map[string]struct {
		f    flow
		want string // one of the requests
	}{
		"the scopes of the challenge": {flow{kind: "device", challenge: `Bearer scope="x y"`}, "POST /device client_id=c1&resource={at}%2Fmcp&scope=x+y :"},
		"the scopes of the metadata":  {flow{kind: "device"}, "POST /device client_id=c1&resource={at}%2Fmcp&scope=read :"},
		"the resource of the device":  {flow{kind: "device"}, "POST /token client_id=c1&device_code=d&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&resource={at}%2Fmcp :"},
		"without a resource":          {flow{kind: "device", want: Want{Params: []Param{{Name: "resource"}}}}, "POST /token client_id=c1&device_code=d&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code :"},
		"a large document":            {flow{kind: "device", replies: replies{metadataPath: metadata("") + strings.Repeat(" ", maxDocument-len(metadata(""))-200)}}, "POST /device client_id=c1&resource={at}%2Fmcp&scope=read :"},
		"a device with basic":         {flow{kind: "device", want: known, replies: replies{metadataPath: metadata(basic)}}, "POST /device client_id=a+b&resource={at}%2Fmcp&scope=read a+b:s%26"},
		"a device with post":          {flow{kind: "device", want: known, replies: replies{metadataPath: metadata(post)}}, "POST /device client_id=a+b&client_secret=s%26&resource={at}%2Fmcp&scope=read :"},
		"both tokens are revoked":     {flow{kind: "revoke"}, "POST /revoke client_id=c1&token=r&token_type_hint=refresh_token :"},
		"the access token, too":       {flow{kind: "revoke"}, "POST /revoke client_id=c1&token=t&token_type_hint=access_token :"},
		"a registered secret":         {flow{kind: "device", replies: replies{"/register": `{"client_id":"c","client_secret":"s"}`}}, "POST /device client_id=c&resource={at}%2Fmcp&scope=read c:s"},
		"only the access token":       {flow{kind: "revoke", replies: replies{"/token": `{"access_token":"t"}`}}, "POST /revoke client_id=c1&token=t&token_type_hint=access_token :"},
		"revocation with basic":       {flow{kind: "revoke", want: known}, "POST /revoke token=t&token_type_hint=access_token a+b:s%26"},
		"a pasted address":            {flow{pasted: []string{"%zz", "http://h/?state=other&code=y", ""}}, "POST /token client_id=c1&code=x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.f.run(t)
			want := strings.ReplaceAll(c.want, "{at}", url.QueryEscape(c.f.at))
			ok, empty := false, false
			for _, asked := range c.f.asked {
				ok = ok || strings.HasPrefix(asked, want)
				empty = empty || strings.Contains(asked, "token=&")
			}
			if err != nil || !ok || empty {
				t.Errorf("%v; no request is %s:\n%s", err, want, strings.Join(c.f.asked, "\n"))
			}
		})
	}
}
