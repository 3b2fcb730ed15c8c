package oauth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// TestBrokenStore checks the Faults of logins that cannot be stored, read or deleted.
func TestBrokenStore(t *testing.T) {
	dir := isolated(t)
	u, _ := url.Parse("https://h/mcp")
	is := func(what string, err error, kind wire.FaultKind, text string) {
		t.Helper()
		if f := wire.AsFault(err); f == nil || f.Kind != kind || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", what, err)
		}
	}
	l := &Login{Resource: "https://h/mcp", Issuer: "https://h", Renews: true, Expiry: time.Unix(0, 0), secrets: secrets{Access: "t"}}
	source := &Source{Client: func() *Client { return NewClient(transport.Config{}) }}
	testkit.OK(t, l.Keep(t.Context()))
	for _, name := range []string{dir, l.path()} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	// A process that waits for the lock can be cancelled.
	unlock, err := l.lock(t.Context())
	testkit.OK(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if _, err := source.Token(ctx, u, ""); err != enough {
		t.Errorf("renewed without the lock: %v", err)
	}
	testkit.Expect(t, "stored without the lock", l.Keep(ctx), enough)
	testkit.Expect(t, "deleted without the lock", l.End(ctx, nil), enough)
	unlock()
	revoked := &Login{Resource: "https://h/r", Method: methodJWT, Key: "missing", Revocation: "https://h/", secrets: secrets{Access: "t"}}
	is("revoked", revoked.End(t.Context(), NewClient(transport.Config{})), wire.Usage, "--client-key: open missing")
	// A directory with a login's name can be neither read nor replaced nor removed.
	testkit.OK(t, os.Remove(l.path()))
	testkit.OK(t, os.MkdirAll(filepath.Join(l.path(), "x"), 0o700))
	_, err = Find(u, nil)
	is("read", err, wire.IO, "is a directory")
	is("stored", l.Keep(t.Context()), wire.IO, "logins: ")
	err = l.End(t.Context(), nil)
	is("deleted", err, wire.IO, "is a directory")
	if !strings.Contains(err.Error(), "not empty") {
		t.Errorf("deleted: %v", err)
	}
	// Without a directory, there are no logins, and none can be stored.
	testkit.OK(t, os.RemoveAll(dir))
	testkit.OK(t, os.WriteFile(dir, nil, 0o600))
	_, err = List()
	is("listed", err, wire.IO, "not a directory")
	is("stored in a file", l.Keep(t.Context()), wire.IO, "not a directory")
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	is("stored nowhere", l.Keep(t.Context()), wire.Usage, "neither XDG_STATE_HOME nor HOME")
}

// TestSlowServersBlockNoLogin checks that a server that does not respond delays only renewals of its own login.
func TestSlowServersBlockNoLogin(t *testing.T) {
	isolated(t)
	const revoked, renewed = "/revoke", "/token"
	arrived, free := make(chan string), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- r.URL.Path
		<-free
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"t2"}`))
	}))
	defer s.Close()
	defer close(free)
	slow := &Login{
		Issuer: s.URL, Resource: s.URL + "/slow", Method: methodNone, TokenEndpoint: s.URL + renewed, Revocation: s.URL + revoked,
		Renews: true, Expiry: time.Unix(0, 0), secrets: secrets{Access: "t"},
	}
	other := &Login{Resource: s.URL + "/other", secrets: secrets{Access: "t"}}
	bounded, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	during := func(request, what string, l *Login, run func(*Client) error) {
		t.Helper()
		c, done := NewClient(transport.Config{}), make(chan error, 1)
		c.allowPrivate()
		go func() { done <- run(c) }()
		if got := <-arrived; got != request {
			t.Errorf("%s: the server got %s", what, got)
		}
		testkit.OK(t, l.Keep(bounded))
		free <- struct{}{}
		testkit.OK(t, <-done)
	}
	testkit.OK(t, slow.Keep(bounded))
	during(renewed, "a renewal", other, func(c *Client) error { _, err := slow.renewed(bounded, c, ""); return err })
	during(revoked, "a revocation", slow, func(c *Client) error { return slow.End(bounded, c) })
}

// TestFailedRenewals checks that only an OAuth error ends a login.
func TestFailedRenewals(t *testing.T) {
	isolated(t)
	for reply, want := range map[string]string{
		`400 {"error":"invalid_grant"}`:  "auth: the login to http://h/mcp has ended: 127.0.0.1",
		`401 {"error":"invalid_client"}`: "auth: the login to http://h/mcp has ended: 127.0.0.1",
		"400 <html>":                     "auth: the login to http://h/mcp cannot be renewed: 127.0.0.1",
		"404 ":                           "unreachable: the login to http://h/mcp cannot be renewed: http://127.0.0.1",
		"408 ":                           "unreachable: the login to http://h/mcp cannot be renewed: http://127.0.0.1",
		"429 ":                           "unreachable: the login to http://h/mcp cannot be renewed: http://127.0.0.1",
		"503 ":                           "unreachable: the login to http://h/mcp cannot be renewed: http://127.0.0.1",
		"307 ":                           "unreachable: the login to http://h/mcp cannot be renewed: http://127.0.0.1",
		"200 <html>":                     "protocol: the login to http://h/mcp cannot be renewed: http://127.0.0.1",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			status, _ := strconv.Atoi(reply[:3])
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Location", "https://other.example/")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(reply[4:]))
		}))
		l := &Login{Resource: "http://h/mcp", Method: methodNone, TokenEndpoint: s.URL + "/token", Renews: true, Expiry: time.Unix(0, 0), secrets: secrets{Refresh: "r"}}
		testkit.OK(t, l.Keep(t.Context()))
		_, err := l.renewed(t.Context(), NewClient(transport.Config{}), "")
		s.Close()
		f := wire.AsFault(err)
		if f == nil || !strings.HasPrefix(string(f.Kind)+": "+f.Message, want) || Ended(err) != strings.Contains(want, "has ended") {
			t.Errorf("%s: %v, ended: %v", reply, err, Ended(err))
		}
	}
}

// TestUnusableNames checks endpoints and keys that cannot have a login.
func TestUnusableNames(t *testing.T) {
	if _, err := Resource(transport.Address{Scheme: "https", Host: "%zz"}); err == nil || !strings.Contains(err.Error(), "is not a URL") {
		t.Error(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	testkit.OK(t, err)
	b, err := x509.MarshalPKCS8PrivateKey(key)
	testkit.OK(t, err)
	file := filepath.Join(t.TempDir(), "p224.pem")
	testkit.OK(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: b}), 0o600))
	if err := (&Want{}).KeyFile(file); err == nil || !strings.Contains(err.Error(), "contains no private key of type RSA, P-256") {
		t.Error(err)
	}
}
