package session

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect/all"
	"rpcx/wire/framing"
	"rpcx/wire/profile"
	"rpcx/wire/serve"
	"rpcx/wire/transport"
)

// An Endpoint names a peer and how to reach it (ENDPOINTS in rpcx(1)).
type Endpoint struct {
	Dialect string            // a row of the table of dialects
	Framing string            // "" means the transport's own
	Address transport.Address // of a transport; zero for the two below
	Demo    string            // the name of an embedded server; "" elsewhere
	Socket  string            // the path of a Conversation's socket; "" elsewhere
	Hook    string            // with Socket: the hook that asks, as its endpoint says it
	Session string            // with Socket: the name of the session whose it is; "" elsewhere
	Profile *profile.Profile  // where it was named: what else is set there; nil elsewhere

	NoEnvironment   bool          // of scriptling: environment.open and environment.close are left out
	ShutdownTimeout time.Duration // of scriptling: the bound of plugin.shutdown; 0: the dialect's own
}

// ParseEndpoint takes an endpoint apart: `[dialect+][framing+]transport:…`.
// dialect is what --dialect says, "" when it was not given. "@" alone stands
// for $RPCX_ENDPOINT. Errors are usage faults, but for a name that leads
// nowhere, which is Unreachable.
func ParseEndpoint(text, dialect string) (Endpoint, error) {
	if text == "@" {
		if text = os.Getenv("RPCX_ENDPOINT"); text == "" {
			return Endpoint{}, usage("@ stands for $RPCX_ENDPOINT, which is not set")
		}
	}
	if name, ok := strings.CutPrefix(text, "@"); ok {
		return named(name, dialect)
	}
	if before, name, ok := strings.Cut(text, "+@"); ok && !strings.ContainsAny(before, ":/") {
		return Endpoint{}, usage("a name has its dialect and framing with it: leave %s+ before @%s out", before, name)
	}
	e, rest := prefixes(text)
	if dialect != "" {
		if e.Dialect != "" && e.Dialect != dialect {
			return Endpoint{}, usage("the endpoint says dialect %s where %s is wanted", e.Dialect, dialect)
		}
		if _, err := specOf(dialect); err != nil {
			return Endpoint{}, err
		}
		e.Dialect = dialect
	}
	return e, e.target(rest)
}

// prefixes takes the dialect and the framing off.
func prefixes(text string) (e Endpoint, rest string) {
	rest = text
	for {
		scheme, _, found := strings.Cut(rest, ":")
		word, after, plus := strings.Cut(scheme, "+")
		if !found || !plus {
			return e, rest
		}
		_, err := specOf(word)
		switch _, isFraming := framing.ByName(word); {
		case err == nil && e.Dialect == "" && e.Framing == "":
			e.Dialect = word
		case isFraming && e.Framing == "":
			e.Framing = word
		default:
			return e, rest
		}
		rest = after + rest[len(scheme):]
	}
}

// target reads what follows the prefixes.
func (e *Endpoint) target(rest string) error {
	scheme, after, _ := strings.Cut(rest, ":")
	switch scheme {
	case "demo":
		return e.demo(after)
	case "conversation":
		if e.Dialect != "" || e.Framing != "" {
			return usage("conversation: takes no dialect and no framing")
		}
		e.Socket, e.Hook = after, ""
		if i := strings.LastIndexByte(after, '#'); i >= 0 && !strings.Contains(after[i:], "/") {
			e.Socket, e.Hook = after[:i], after[i+1:] // a folder's name may hold a "#"
		}
		if e.Socket == "" {
			return usage("conversation: needs the path of a socket")
		}
		return nil
	}
	if e.Dialect == "" {
		e.Dialect = all.Default()
	}
	var err error
	if e.Address, err = transport.Parse(rest); err != nil {
		return badTransport(rest, err)
	}
	if e.Framing == "" {
		return nil
	}
	if !byteTransports[e.Address.Scheme] {
		return usage("%s: has its own framing: leave %s+ out", e.Address.Scheme, e.Framing)
	}
	return nil
}

func (e *Endpoint) demo(name string) error {
	if name == "" {
		name = "orders"
	}
	c, ok := serve.Demo(name)
	if !ok {
		f := usage("there is no demo named %q, only %s", name, strings.Join(serve.DemoNames(), ", "))
		if near := catalog.Nearest(name, serve.DemoNames()); near != "" {
			f.Hint = "did you mean demo:" + near + "?"
		}
		return f
	}
	if e.Framing != "" {
		return usage("demo: has no framing: leave %s+ out", e.Framing)
	}
	its := c.Dialect
	if its == "" {
		its = all.Default()
	}
	if e.Dialect != "" && e.Dialect != its {
		return usage("demo:%s speaks %s, not %s", name, its, e.Dialect)
	}
	e.Demo, e.Dialect = name, its
	return nil
}

// badTransport adds the nearest transport where none was understood, and the
// nearest dialect or framing where a prefix was not, such as "lps+exec:".
func badTransport(rest string, err error) error {
	scheme, _, _ := strings.Cut(rest, ":")
	word, _, plus := strings.Cut(scheme, "+")
	if !plus {
		f, near := wire.AsFault(err), catalog.Nearest(scheme, schemes)
		if near == "" || !strings.HasPrefix(f.Message, "unknown transport") {
			return err
		}
		return &wire.Fault{Kind: f.Kind, Message: f.Message, Hint: "did you mean " + near + "?"}
	}
	if slices.Contains(schemes, word) {
		return err
	}
	f := &wire.Fault{Kind: wire.Usage, Message: fmt.Sprintf("%q is no dialect, framing or transport", word)}
	words := append(Dialects(), framing.Names()...)
	if near := catalog.Nearest(word, words); near != "" {
		f.Hint = "did you mean " + near + "+" + rest[len(word)+1:] + "?"
	} else {
		f.Hint = "before a transport stands one of " + strings.Join(words, ", ")
	}
	return f
}

// schemes are what a transport may be called, for the words to one that is not.
var schemes = []string{"ws", "wss", "http", "https", "tcp", "tls", "unix", "exec", "ipc", "stdio", "demo"}

// byteTransports take a framing.
var byteTransports = map[string]bool{"unix": true, "tcp": true, "tls": true, "exec": true, "stdio": true}

// String is the endpoint as it may be shown: redacted.
func (e Endpoint) String() string {
	switch {
	case e.Demo != "":
		return "demo:" + e.Demo
	case e.Session != "":
		return "@" + e.Session
	case e.Socket != "":
		return "conversation:" + e.Socket
	}
	s := e.Address.String()
	if e.Framing != "" {
		s = e.Framing + "+" + s
	}
	if e.Dialect != all.Default() {
		s = e.Dialect + "+" + s
	}
	return s
}

func usage(format string, args ...any) *wire.Fault {
	return wire.NewFault(wire.Usage, fmt.Sprintf(format, args...), nil)
}
