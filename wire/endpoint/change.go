package endpoint

import (
	"strings"

	"rpcx/wire/dialect/all"
)

// A Change turns an endpoint into another one that is worth trying: in another dialect, in another framing or over
// another transport. At most one member is set if an endpoint has to be changed.
type Change struct {
	Dialect string // the right one; "" for the endpoint's
	Framing string // the right one; "" for the endpoint's
	Scheme  string // the right one; "" for the endpoint's
}

// Prefix returns the part of an endpoint that c changes: the prefix before the transport, such as "header+", or the
// transport itself, such as "http://".
func (c Change) Prefix() string {
	switch {
	case c.Dialect != "":
		return c.Dialect + "+"
	case c.Framing != "":
		return c.Framing + "+"
	}
	return c.Scheme + "://"
}

// Rewrite returns an endpoint that a user typed, with the dialect, framing and transport of c.
func (c Change) Rewrite(typed string) string {
	e, rest, err := prefixes(typed)
	if err != nil {
		return typed
	}
	e.change(c, rest)
	if scheme, after, ok := strings.Cut(rest, "://"); ok && c.Scheme != "" {
		if c.Scheme == "tcp" || c.Scheme == "tls" {
			after, _, _ = strings.Cut(after, "/") // a path belongs to HTTP
		}
		if rest = c.Scheme + "://" + after; byteTransports[scheme] && strings.HasPrefix(c.Scheme, "http") {
			rest, e.Framing = rest+"/", ""
		}
	}
	if e.Framing == (Endpoint{Dialect: e.Dialect}).FramingName() {
		e.Framing = ""
	}
	if e.Dialect == all.Default() {
		e.Dialect = ""
	}
	for _, word := range []string{e.Reversed, e.Framing, e.Dialect} {
		if word != "" {
			rest = word + "+" + rest
		}
	}
	return rest
}

// change gives e the dialect and the framing of c. rest is the transport of e and everything after it.
func (e *Endpoint) change(c Change, rest string) {
	scheme, _, _ := strings.Cut(rest, ":")
	if c.Dialect == all.Default() && byteTransports[scheme] && e.Framing == "" {
		e.Framing = e.FramingName() // messages have arrived in this framing
	}
	if c.Dialect != "" {
		e.Dialect = c.Dialect
	}
	if c.Framing != "" {
		e.Framing = c.Framing
	}
}

// Over returns typed with the dialect and the framing of e in front.
func (e Endpoint) Over(typed string) string {
	c := Change{Dialect: e.Dialect, Framing: e.Framing}
	if c.Dialect == all.Default() {
		c.Dialect = ""
	}
	return c.Rewrite(typed)
}

// NamesDialect reports whether an endpoint that a user typed names its dialect.
func NamesDialect(typed string) bool {
	e, _, err := prefixes(typed)
	return err != nil || e.Dialect != ""
}
