package request

import (
	"context"
	"net/url"
	"testing"

	"rpcx/wire/session"
	"rpcx/wire/transport"
)

type testLogin string

func (l testLogin) Token(context.Context, *url.URL, string) (string, error) { return "", nil }

func (l testLogin) Identity(transport.Address) string { return string(l) }

// TestAnswersOfALogin: answers to one login are not those to another, or to nobody.
func TestAnswersOfALogin(t *testing.T) {
	e, err := session.ParseEndpoint("ro+ws://127.0.0.1:1/", "")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, l := range []testLogin{"", "ann", "bob"} {
		cfg := transport.Config{HTTPObserver: transport.HTTPObserver{Login: l}}
		s := AnswersOf(e, cfg)
		if s.Private != (l != "") || seen[s.Of] {
			t.Errorf("the login %q has the answers of another one", l)
		}
		seen[s.Of] = true
	}
}
