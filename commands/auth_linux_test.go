package commands

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rpcx/wire/testkit"
)

// TestSecretIsAsked checks that --client-secret ask reads the secret from the terminal without echo, and restores the terminal.
func TestSecretIsAsked(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	testkit.OK(t, os.WriteFile(log, nil, 0o600))
	s := startAuthServer(map[string]string{"noregistration": ""}, log)
	defer s.at.Close()
	defer s.as.Close()
	login := []string{"auth", "login", s.at.URL + "/mcp", "--client-id", "known", "--client-secret", "ask", "--no-browser"}
	y := onTerminal(t, login...)
	y.shows("the client's secret: ")
	y.types("s3cret-of-known\r")
	y.shows("log in at ")
	y.shows("&state=")
	for !regexp.MustCompile(`&state=\w+\r`).MatchString(y.output()) {
		y.shows("\n")
	}
	resp, err := http.Get(regexp.MustCompile(`http://127\S+/authorize\S+`).FindString(y.output()))
	testkit.OK(t, err)
	resp.Body.Close()
	y.exits(0)
	if asked, _ := os.ReadFile(log); strings.Contains(y.output(), "s3cret") || !strings.Contains(string(asked), "\ntoken basic code") {
		t.Errorf("%q, %q", y.output(), asked)
	}
	y = onTerminal(t, login...)
	y.shows("the client's secret: ")
	y.types("\x03")
	y.exits(130)
}
