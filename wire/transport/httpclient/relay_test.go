package httpclient

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Headers of a single connection are not forwarded.
func TestEndToEnd(t *testing.T) {
	h := http.Header{}
	for _, name := range []string{
		"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
		"X-One", "X-Two", "X-Three", "Accept", "Authorization",
	} {
		h.Set(name, "v")
	}
	h["Connection"] = []string{"close, x-one", "X-Two"}
	var left []string
	for name := range endToEnd(h) {
		left = append(left, name)
	}
	slices.Sort(left)
	if got := strings.Join(left, " "); got != "Accept Authorization X-Three" {
		t.Error(got)
	}
	if h.Get("X-One") == "" {
		t.Error("the headers themselves were changed")
	}
}
