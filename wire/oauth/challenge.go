package oauth

import (
	"net/http"
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
	for _, text := range values {
		for text != "" {
			var word string
			word, text = cutToken(text)
			rest := strings.TrimLeft(text, " ")
			switch {
			case word == "":
				text = text[min(1, len(text)):]
			case !strings.HasPrefix(rest, "="):
				if c != nil {
					return c // the next scheme begins here
				}
				if strings.EqualFold(word, "bearer") {
					c = &Challenge{}
				}
			default:
				var value string
				value, text = cutValue(strings.TrimLeft(rest[1:], " "))
				if c != nil {
					c.set(strings.ToLower(word), value)
				}
			}
		}
	}
	return c
}

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

// cutToken returns the token (RFC 9110) at the start of text, after white space and commas, and the remaining text.
func cutToken(text string) (token, rest string) {
	text = strings.TrimLeft(text, " \t,")
	end := strings.IndexAny(text, " \t,=\"")
	if end < 0 {
		end = len(text)
	}
	return text[:end], text[end:]
}

// cutValue returns the token or quoted string at the start of text, and the remaining text.
func cutValue(text string) (value, rest string) {
	if !strings.HasPrefix(text, `"`) {
		return cutToken(text)
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '"':
			return b.String(), text[i+1:]
		case text[i] == '\\' && i+1 < len(text):
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String(), ""
}

func challengeOf(resp *http.Response) *Challenge {
	if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return nil
	}
	return ParseChallenge(resp.Header.Values("WWW-Authenticate"))
}
