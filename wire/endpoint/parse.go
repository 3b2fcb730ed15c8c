package endpoint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect/all"
	"rpcx/wire/framing"
	"rpcx/wire/serve"
	"rpcx/wire/transport"
)

// Parse parses an endpoint, `[dialect+][framing+][accept+|dial+]transport:…`. dialect is the value of --dialect, or "".
// Errors are usage Faults. session.ParseEndpoint resolves names (@NAME).
func Parse(text, dialect string) (Endpoint, error) {
	if before, name, ok := strings.Cut(text, "+@"); ok && !strings.ContainsAny(before, ":/") {
		return Endpoint{}, wire.Usagef("a name already includes dialect and framing; remove %s+ before @%s", before, name)
	}
	e, rest, err := prefixes(text)
	if err != nil {
		return Endpoint{}, err
	}
	if dialect != "" {
		spec, err := all.Lookup(dialect)
		switch {
		case e.Dialect != "" && e.Dialect != dialect && e.Dialect != spec.Name:
			return Endpoint{}, wire.Usagef("the endpoint uses the %s dialect, not %s", e.Dialect, dialect)
		case err != nil:
			return Endpoint{}, err
		}
		e.Dialect = spec.Name
	}
	return e, e.target(rest)
}

// prefixes parses the prefixes of text. It returns an error if a dialect file is invalid.
func prefixes(text string) (e Endpoint, rest string, err error) {
	rest = text
	for {
		scheme, _, found := strings.Cut(rest, ":")
		word, after, plus := strings.Cut(scheme, "+")
		if !found || !plus || e.Reversed != "" {
			return e, rest, nil
		}
		if ok, err := e.prefix(word); !ok {
			return e, rest, err
		}
		rest = after + rest[len(scheme):]
	}
}

// prefix stores a word that precedes the transport. It returns false if the word is not allowed there.
func (e *Endpoint) prefix(word string) (ok bool, err error) {
	isDialect := all.Has(word) || strings.HasSuffix(word, ".toml")
	if name, ok := aliases[word]; ok && (!isDialect || e.Dialect != "") {
		word = name
	}
	switch _, isFraming := framing.ByName(word); {
	case isDialect && e.Dialect == "" && e.Framing == "":
		spec, err := all.Lookup(word)
		if err != nil {
			return false, err
		}
		e.Dialect = spec.Name
	case isFraming && e.Framing == "":
		e.Framing = word
	case word == Accept || word == Dial:
		e.Reversed = word
	default:
		return false, nil
	}
	return true, nil
}

// target parses the part after the prefixes: the transport and the address.
func (e *Endpoint) target(rest string) error {
	scheme, after, _ := strings.Cut(rest, ":")
	if e.Reversed != "" && slices.Contains(schemeNames(), scheme) && !slices.Contains(reversible, scheme) {
		return wire.Usagef("%s+ goes before %s, not before %s:", e.Reversed, strings.Join(reversible, ", "), scheme)
	}
	switch scheme {
	case "demo":
		return e.demo(after)
	case "tape":
		return e.tape(after)
	case "conversation":
		return e.conversation(after)
	case "config":
		return e.config(after)
	}
	e.Dialect = cmp.Or(e.Dialect, all.Default())
	var err error
	if e.Address, err = transport.Parse(rest); err != nil {
		return badTransport(rest, err)
	}
	if e.Framing == "" {
		return nil
	}
	if !byteTransports[e.Address.Scheme] {
		return wire.Usagef("%s: has its own framing; remove %s+", e.Address.Scheme, e.Framing)
	}
	return nil
}

// conversation parses the part of an endpoint after "conversation:".
func (e *Endpoint) conversation(after string) error {
	if e.Dialect != "" || e.Framing != "" {
		return wire.Usagef("conversation: takes no dialect and no framing")
	}
	if e.Socket, e.Hook = cutName(after); e.Socket == "" {
		return wire.Usagef("conversation: needs the path of a socket")
	}
	return nil
}

func (e *Endpoint) demo(name string) error {
	name = cmp.Or(name, "orders")
	its, ok := serve.DemoDialect(name)
	if !ok {
		f := wire.Usagef("unknown demo %q; use %s", name, strings.Join(serve.DemoNames(), ", "))
		if near := catalog.Nearest(name, serve.DemoNames()); near != "" {
			f.Hint = "did you mean demo:" + near + "?"
			f.Err = transport.Meant{Given: name, Better: near}
		}
		return f
	}
	if e.Framing != "" {
		return wire.Usagef("demo: takes no framing; remove %s+", e.Framing)
	}
	its = cmp.Or(its, all.Default())
	if e.Dialect != "" && e.Dialect != its {
		return wire.Usagef("demo:%s uses the %s dialect, not %s", name, its, e.Dialect)
	}
	e.Demo, e.Dialect = name, its
	return nil
}

// badTransport adds a suggestion to the error for an unknown transport: the most similar transport or, for an unknown
// prefix such as in "lps+exec:", the most similar dialect or framing.
func badTransport(rest string, err error) error {
	scheme, after, colon := strings.Cut(rest, ":")
	word, _, plus := strings.Cut(scheme, "+")
	if last := scheme[strings.LastIndexByte(scheme, '+')+1:]; !colon && plus && slices.Contains(schemeNames(), last) {
		return meant(rest, rest+":", fmt.Sprintf("%q has no colon after its transport", rest))
	}
	if !plus {
		f, near := wire.AsFault(err), catalog.Nearest(scheme, schemeNames())
		switch {
		case !strings.HasPrefix(f.Message, "unknown transport"):
			return err
		case slices.Contains(schemeNames(), strings.ToLower(scheme)):
			return meant(rest, strings.ToLower(scheme)+":"+after, f.Message)
		case slices.Contains(Prefixes(), scheme) && slices.ContainsFunc(schemeNames(), func(s string) bool { return strings.HasPrefix(after, s+":") }):
			return meant(rest, scheme+"+"+after, fmt.Sprintf("%q is not a transport", scheme))
		case slices.Contains(Prefixes(), scheme):
			return &wire.Fault{Kind: f.Kind, Message: fmt.Sprintf("%q is not a transport", scheme), Hint: "it goes before one, as in " + scheme + "+tcp://HOST:PORT"}
		case near == "":
			return err
		}
		return meant(rest, near+":"+after, f.Message)
	}
	if slices.Contains(schemeNames(), word) {
		return err
	}
	f := wire.Usagef("%q is not a dialect, framing or transport", word)
	words := append(all.OwnNames(), Prefixes()...)
	if near := catalog.Nearest(word, words); near != "" {
		return meant(rest, near+"+"+rest[len(word)+1:], f.Message)
	}
	return f.WithHint("use one of " + strings.Join(words, ", "))
}

// meant returns the usage Fault for given, the part of an endpoint after its prefixes, which is probably a mistake for
// better.
func meant(given, better, message string) *wire.Fault {
	return &wire.Fault{Kind: wire.Usage, Message: message, Hint: "did you mean " + better + "?", Err: transport.Meant{Given: given, Better: better}}
}

// aliases maps prefixes to framings. If a dialect has the same name, it takes precedence.
var aliases = map[string]string{
	"lsp": "header", // as in jsonrpc1+lsp+exec:x
}

// Prefixes returns the words that can precede a transport: dialects, framings and their aliases, accept and dial.
func Prefixes() []string {
	words := append(append(all.Names(), framing.Names()...), Accept, Dial)
	for _, alias := range slices.Sorted(maps.Keys(aliases)) {
		if !slices.Contains(words, alias) {
			words = append(words, alias)
		}
	}
	return words
}

// Beginnings are the beginnings of endpoints in the order of completion, one for each transport that users type. They
// include slashes if a host follows.
var Beginnings = []string{
	"ws://", "wss://", "http://", "https://", "tcp://", "tls://", "unix:", "ws+unix:", "http+unix:", "exec:", "ipc:", "stdio:", "tape:",
}

// schemeNames returns the schemes that have no plus sign, unlike ws+unix.
func schemeNames() (names []string) {
	for _, s := range append(Beginnings, "demo:", "conversation:") {
		if name, _, _ := strings.Cut(s, ":"); !strings.Contains(name, "+") {
			names = append(names, name)
		}
	}
	return names
}

// byteTransports are the transports that require a framing.
var byteTransports = map[string]bool{"unix": true, "tcp": true, "tls": true, "exec": true, "stdio": true}
