package oauth

import (
	"net/http"
	"regexp"
	"strings"
)

// A Challenge is a server's Bearer challenge in WWW-Authenticate (RFC 6750, RFC 9728).
type Challenge struct {
	Metadata string   // the URL of the resource's metadata, or ""
	Scopes   []string // the scopes that the request needs
	Error    string   // an error code such as insufficient_scope
}

// ParseChallenge returns the first Bearer challenge in the values of WWW-Authenticate, or nil.
func ParseChallenge(values []string) *Challenge {
	var c *Challenge
	part := regexp.MustCompile(schemeOrParameter)
	for _, text := range values {
		for _, m := range part.FindAllStringSubmatch(text, -1) {
			name, isParameter, value := strings.ToLower(m[1]), m[2] != "", m[3]
			if quoted, ok := strings.CutPrefix(value, `"`); ok {
				value = regexp.MustCompile(`\\(.)`).ReplaceAllString(strings.TrimSuffix(quoted, `"`), "$1")
			}
			switch {
			case isParameter && c != nil:
				c.set(name, value)
			case isParameter:
			case c != nil:
				return c // the next scheme begins here
			case name == "bearer":
				c = &Challenge{}
			}
		}
	}
	return c
}

// schemeOrParameter matches the next part of WWW-Authenticate (RFC 9110, section 11.6.1): a scheme, or the name of a
// parameter with "=" and a value, which is a token or a quoted string.
const schemeOrParameter = `([^\s,="]+)(?:\s*(=)\s*("(?:[^"\\]|\\.)*"?|[^\s,="]*))?`

func (c *Challenge) set(name, value string) {
	switch name {
	case "resource_metadata":
		c.Metadata = value
	case "scope":
		c.Scopes = strings.Fields(value)
	case "error":
		c.Error = value
	}
}

func challengeOf(resp *http.Response) *Challenge {
	if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return nil
	}
	return ParseChallenge(resp.Header.Values("WWW-Authenticate"))
}
