package cache

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rpcx/wire/catalog"
	"rpcx/wire/endpoint"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

func parse(t *testing.T, text string) endpoint.Endpoint {
	t.Helper()
	e, err := endpoint.Parse(text, "")
	testkit.OK(t, err)
	return e
}

// Each property that distinguishes peers or users changes all three hashes of an endpoint.
func TestIdentity(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	seen := map[string]string{}
	once := func(what, key string) {
		if key == "" {
			t.Errorf("%s has no key", what)
		}
		if before, ok := seen[key]; ok {
			t.Errorf("%s has the key of %s", what, before)
		}
		seen[key] = what
	}
	for _, text := range []string{
		"ws://h/", "ws://h/x", "ws://u:p@h/", "wss://h/", "jsonrpc1+ws://h/", "tcp://h:1", "header+tcp://h:1",
		"unix:/a", "exec:a b", "exec:a",
	} {
		e := parse(t, text)
		once("the source of "+text, SourceOf(e, "", "").Of)
		once("the fingerprint of "+text, Fingerprint(e, "/"))
		once("the discovery of "+text, discoveryFile(e, transport.Config{}))
	}
	e := parse(t, "ws://h/")
	once("an asker", SourceOf(e, "who", "").Of)
	once("another trust", SourceOf(e, "", "insecure").Of)
	once("another folder", Fingerprint(e, "/x"))
	once("other words", Fingerprint(e, "/", []string{"a"}, nil))
	once("words of another list", Fingerprint(e, "/", nil, []string{"a"}))
	once("a header", discoveryFile(e, transport.Config{Header: http.Header{"Authorization": {"1"}}}))
	once("a certificate", discoveryFile(e, transport.Config{TLS: transport.TLS{Cert: "c"}}))
	var user, nobody transport.Config
	user.Login, nobody.Login = login("me"), login("")
	once("a login", discoveryFile(e, user))
	testkit.Expect(t, "the file name with a login for other endpoints", discoveryFile(e, nobody), discoveryFile(e, transport.Config{}))
	if a, b := discoveryFile(e, transport.Config{Header: http.Header{"X": {"1"}}}), discoveryFile(e, transport.Config{Header: http.Header{"X": {"2"}}}); a != b {
		t.Error("the file name depends on the value of a header")
	}
	testkit.Expect(t, "the source of stdio:", SourceOf(parse(t, "stdio:"), "", ""), Source{})
}

// A login has this identity for each endpoint.
type login string

func (l login) Identity(transport.Address) string { return string(l) }

func (login) Token(context.Context, *url.URL, string) (string, error) { return "", nil }

func TestIdentityOfRelativePaths(t *testing.T) {
	e, command := parse(t, "unix:./a"), parse(t, "exec:./a")
	t.Chdir(t.TempDir())
	path, program := SourceOf(e, "", ""), SourceOf(command, "", "")
	t.Chdir(t.TempDir())
	if SourceOf(e, "", "") == path || SourceOf(command, "", "") == program {
		t.Error("the same relative path in another directory has the same source")
	}
}

// Without a working directory, a relative path does not identify a peer, and nothing is stored.
func TestNoIdentityWithoutAFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "gone")
	testkit.OK(t, os.Mkdir(folder, 0o700))
	t.Chdir(folder)
	if err := os.Remove(folder); err != nil {
		t.Skip(err)
	}
	t.Setenv("PWD", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if a, b := Fingerprint(parse(t, "unix:a"), "/"), Fingerprint(parse(t, "unix:b"), "/"); a == b {
		t.Error("two endpoints have the same fingerprint")
	}
	for text, known := range map[string]bool{"unix:a": false, "exec:./a": false, "unix:/a": true, "ws://h/": true} {
		if id, err := identity(parse(t, text)); (err == nil) != known || (id == nil) == known {
			t.Errorf("%s: %v, %v", text, id, err)
		}
		testkit.Expect(t, text+" has a source", SourceOf(parse(t, text), "", "") != Source{}, known)
		if discovery, outline := discoveryFile(parse(t, text), transport.Config{}), outlineFile(text, ""); (discovery != "") != known || (outline != "") != (text == "ws://h/") {
			t.Errorf("%s: its methods are cached in %q and %q", text, discovery, outline)
		}
	}
}

func TestWrite(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	file, at := filepath.Join(folder, "f"), time.Unix(1e9, 0)
	for _, text := range []string{"one", "two"} {
		if err := Write(file, []byte(text), at); err != nil || string(Read(file)) != text {
			t.Errorf("%s: %v, %q", text, err, Read(file))
		}
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 || !info.ModTime().Equal(at) {
		t.Errorf("%v, %v", info, err)
	}
	testkit.OK(t, os.Mkdir(filepath.Join(folder, "d"), 0o700))
	if err := Write(filepath.Join(folder, "d"), []byte("x"), time.Time{}); err == nil {
		t.Error("a directory was replaced")
	}
	Update(file, func(old []byte) []byte { return append(old, '!') })
	testkit.Expect(t, "updated", string(Read(file)), "two!")
	Update(file, func([]byte) []byte { return nil })
	if left, _ := os.ReadDir(folder); len(left) != 1 || Read(file) != nil {
		t.Errorf("files: %v, want one", left)
	}
}

// Get returns a response until it expires. Put removes the file of an expired response.
func TestAnswers(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	raw := json.RawMessage(`{"id":1,"result":[1.0]}`)
	testkit.OK(t, Put("k", Answer{Raw: raw, At: time.Now().Add(-time.Second), MaxAge: time.Hour}))
	got := Get("k")
	if got == nil || string(got.Raw) != string(raw) || string(got.Message().Body) != "[1.0]" || got.Age() < time.Second {
		t.Errorf("got %+v", got)
	}
	testkit.OK(t, Put("old", Answer{Raw: raw, At: time.Now().Add(-time.Hour), MaxAge: time.Minute}))
	if Get("old") != nil || Get("none") != nil {
		t.Error("Get returned an expired or missing result")
	}
	file, _ := answerFile("old")
	if err := Put("other", Answer{Raw: raw, At: time.Now(), MaxAge: time.Hour}); err != nil || Get("k") == nil {
		t.Errorf("a valid result was removed: %v", err)
	}
	if err := Put("k", Answer{Raw: raw, At: time.Now(), MaxAge: time.Hour}); err != nil || Read(file) != nil {
		t.Errorf("an expired result was not removed: %v", err)
	}
}

// Without a cache directory, nothing is stored.
func TestNoCache(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	t.Chdir(t.TempDir())
	e, a := parse(t, "ws://h/"), Answer{Raw: json.RawMessage(`{}`), At: time.Now(), MaxAge: time.Hour}
	if err := Put("k", a); err == nil || !strings.Contains(err.Error(), "neither XDG_CACHE_HOME nor HOME") {
		t.Error(err)
	}
	KeepOutlines("ws://h/", "", nil, catalog.Keep{})
	if d := Discovery(e, transport.Config{}, Usual); Get("k") != nil || KeptOutlines("ws://h/", "") != nil || d.Load != nil {
		t.Error("something was stored")
	}
	if left, err := os.ReadDir("."); len(left) > 0 || err != nil {
		t.Error(left, err)
	}
}

func TestDiscovery(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	e := parse(t, "jsonrpc1+ws://h/")
	keep := func(json.RawMessage) json.RawMessage { return json.RawMessage(`{}`) }
	if d := Discovery(e, transport.Config{}, None); d.Load != nil || d.Update != nil {
		t.Error("None must neither read nor write")
	}
	d := Discovery(e, transport.Config{}, Refresh)
	if d.Load != nil {
		t.Error("Refresh reads")
	}
	d.Update(keep)
	if d = Discovery(e, transport.Config{}, Usual); string(d.Load()) != "{}" {
		t.Errorf("read %s", d.Load())
	}
	if d := Discovery(parse(t, "demo:"), transport.Config{}, Usual); d.Load != nil || d.Update != nil {
		t.Error("the description of a demo is cached")
	}
}
