package artifacts

import (
	"net/url"
	"testing"

	"rpcx/wire/testkit"
)

// rpcx fetches files from the peer's own host and port, and from hosts that the user names, with or without a port.
func TestAllowed(t *testing.T) {
	for _, tt := range []struct {
		host, from string
		want       bool
	}{
		{withPort("wss", "h.example"), "https://h.example/f", true},
		{withPort("https", "h.example"), "https://h.example:443/f", true},
		{withPort("https", "h.example"), "http://h.example/f", false},
		{withPort("ws", "h.example"), "http://h.example/f", true},
		{withPort("http", "h.example"), "https://h.example/f", false},
		{withPort("ws", "h.example:8080"), "http://h.example:8080/f", true},
		{withPort("ws", "h.example:8080"), "http://h.example/f", false},
		{withPort("wss", "[::1]"), "https://[::1]/f", true},
		{withPort("ws", "[::1]:99"), "http://[::1]:99/f", true},
		{"files.example", "https://files.example:8443/f", true},
		{"[::1]", "http://[::1]:1/f", true},
		{"files.example:80", "http://FILES.example/f", true},
		{"files.example:80", "https://files.example/f", false},
		{"files.example", "https://other.example/f", false},
	} {
		u, err := url.Parse(tt.from)
		testkit.OK(t, err)
		if got := (&Saver{Hosts: []string{"none.example", tt.host}}).allowed(u); got != tt.want {
			t.Errorf("from %s, where %s is allowed: %v", tt.from, tt.host, got)
		}
	}
}
