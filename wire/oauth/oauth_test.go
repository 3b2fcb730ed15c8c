package oauth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// TestCovers checks that a token for a resource is sent only to its origin, at its path and below.
func TestCovers(t *testing.T) {
	for _, c := range []struct {
		resource, at string
		want         bool
	}{
		{"https://h/mcp", "https://h/mcp", true},
		{"https://h/mcp", "https://H:443/mcp?a=b", true},
		{"https://h/mcp", "https://h/mcp/below", true},
		{"https://h/mcp/", "https://h/mcp", true},
		{"https://h", "https://h/mcp", true},
		{"https://h/mcp", "https://h/mcp-2", false},
		{"https://h/mcp", "https://h/", false},
		{"https://h/mcp", "https://h/mcp/../admin", false},
		{"https://h/mcp", "https://h/mcp/%2e%2e/admin", false},
		{"https://h/mcp", "http://h/mcp", false},
		{"https://h/mcp", "https://h:8443/mcp", false},
		{"https://h/mcp", "https://h.example/mcp", false},
		{"", "https://h/mcp", false},
	} {
		u, err := url.Parse(c.at)
		testkit.OK(t, err)
		testkit.Expect(t, c.resource+" "+c.at, covers(c.resource, u), c.want)
	}
}

// TestDescribes checks that metadata is accepted only for its endpoint, or for the resource of its well-known URL.
func TestDescribes(t *testing.T) {
	endpoint, _ := url.Parse("https://h/a/mcp")
	const place = "https://h/.well-known/oauth-protected-resource"
	for _, c := range []struct {
		identifier, at string
		want           bool
	}{
		{"https://h/a/mcp", place + "/a/mcp", true},
		{"https://h/a/mcp/", place + "/a/mcp", true},
		{"https://h/a/mcp", "https://h/a/metadata?x=y", true},
		{"https://h", place, true},
		{"https://h/", place, true},
		{"https://h/a", place + "/a", true},
		{"https://h", place + "/a/mcp", false},
		{"https://h", "https://h/a/metadata", false},
		{"https://h/a", place, false},
		{"https://h/b", place + "/b", false},
		{"https://other", "https://other/.well-known/oauth-protected-resource", false},
		{"", place, false},
	} {
		testkit.Expect(t, c.identifier+" "+c.at, describes(c.identifier, c.at, endpoint), c.want)
	}
}

// TestParseChallenge checks WWW-Authenticate headers with one or more challenges (RFC 9110, section 11.6.1).
func TestParseChallenge(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   *Challenge
	}{
		{nil, nil},
		{[]string{`Basic realm="x"`}, nil},
		{[]string{`Bearer`}, &Challenge{}},
		{[]string{`bearer realm="a, b", scope="x  y",error=insufficient_scope`}, &Challenge{Scopes: []string{"x", "y"}, Error: "insufficient_scope"}},
		{[]string{`Basic realm="Bearer scope=\"a\"", Bearer resource_metadata = "https://h/\"m"`}, &Challenge{Metadata: `https://h/"m`}},
		{[]string{`Bearer scope="a", Basic realm="b", scope="c"`}, &Challenge{Scopes: []string{"a"}}},
		{[]string{`Negotiate YWJj==`, `Bearer scope=a`}, &Challenge{Scopes: []string{"a"}}},
		{[]string{`Bearer scope="a`}, &Challenge{Scopes: []string{"a"}}},
	} {
		got := ParseChallenge(c.values)
		if (got == nil) != (c.want == nil) || got != nil && (got.Metadata != c.want.Metadata || got.Error != c.want.Error || !slices.Equal(got.Scopes, c.want.Scopes)) {
			t.Errorf("%q: %+v, not %+v", c.values, got, c.want)
		}
	}
}

func FuzzParseChallenge(f *testing.F) {
	f.Add(`Bearer realm="a, b", scope="x y"`)
	f.Add(`Basic YWJj==, bearer error = "x\"y`)
	f.Fuzz(func(_ *testing.T, value string) { ParseChallenge([]string{value}) })
}

// TestPrivateAddresses checks that a server at a public address cannot make rpcx send requests to a private one.
func TestPrivateAddresses(t *testing.T) {
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer s.Close()
	c := NewClient(transport.Config{})
	defer c.Close()
	var m Server
	_, err := c.get(t.Context(), s.URL+"/.well-known/oauth-authorization-server", &m)
	if f := wire.AsFault(err); f == nil || f.Kind != wire.Protocol || !strings.Contains(f.Message, "private address 127.0.0.1") {
		t.Errorf("a private address: %v", err)
	}
	testkit.Expect(t, "requests to the private address", asked.Load(), 0)
	public, endpoint := context.Background(), context.WithValue(context.Background(), firstKey{}, true)
	for at, private := range map[string]bool{
		"127.0.0.1": true, "10.1.2.3": true, "192.168.1.1": true, "169.254.169.254": true, "100.64.0.1": true, "::1": true, "fd00::1": true, "fe80::1": true,
		"::ffff:10.0.0.1": true, "0.0.0.0": true, "192.0.2.1": false, "2001:db8::1": false,
	} {
		c := NewClient(transport.Config{})
		if err := c.allow(public, "h", netip.MustParseAddr(at)); (err != nil) != private {
			t.Errorf("%s: %v", at, err)
		}
		if c.allow(endpoint, "h", netip.MustParseAddr(at)) != nil || c.allow(public, "h", netip.MustParseAddr("10.0.0.1")) != nil != !private {
			t.Errorf("an endpoint at %s: only a private endpoint can have an authorization server at a private address", at)
		}
	}
	c.allowPrivate() // as with --issuer
	if _, err := c.get(t.Context(), s.URL, &m); asked.Load() != 1 {
		t.Error(err)
	}
}
