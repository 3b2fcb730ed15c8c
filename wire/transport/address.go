package transport

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/redact"
)

// An Address consists of a transport and the target of the connection.
type Address struct {
	Scheme  string        // "ws", "http+unix", "exec", …
	User    *url.Userinfo // for ws, wss, http and https; may be nil
	Host    string        // as typed: host or host:port for ws, wss, http and https; host:port for tcp and tls
	Path    string        // the socket's path, for unix, ws+unix and http+unix
	URLPath string        // the path and query, for ws and http, with a leading "/"
	Command []string      // the words of the command, for exec and ipc; empty for `ipc:`
	Env     []string      // additional environment variables, for exec
	Dir     string        // the working directory, for exec; "" for the current one
}

// WebSocket reports whether a is a WebSocket address.
func (a Address) WebSocket() bool { return strings.HasPrefix(a.Scheme, "ws") }

// IsHTTP reports whether a is an HTTP address other than a WebSocket.
func (a Address) IsHTTP() bool { return strings.HasPrefix(a.Scheme, "http") }

// UsageHint returns a usage Fault with a hint.
func UsageHint(hint, format string, args ...any) *wire.Fault {
	return wire.Usagef(format, args...).WithHint(hint)
}

// A Meant is the cause of a Fault about an address for which only one correction is possible.
type Meant struct{ Given, Better string }

// Error implements error.
func (Meant) Error() string { return "probably another address" }

// meant returns the Fault for given, for which better is the only possible correction.
func meant(given, better, format string, args ...any) *wire.Fault {
	f := UsageHint("did you mean "+better+"?", format, args...)
	f.Err = Meant{given, better}
	return f
}

// Parse parses an address such as "tcp://127.0.0.1:9000" or "exec:./plugin -v". It depends only on the text. Errors are
// usage Faults whose hint is the correct form.
func Parse(s string) (Address, error) {
	scheme, rest, ok := strings.Cut(s, ":")
	a := Address{Scheme: scheme}
	var f *wire.Fault
	switch {
	case !ok:
		f = noScheme(s)
	case strings.ContainsRune(s, 0):
		f = wire.Usagef("%s: the address contains a NUL", scheme)
	default:
		f = a.parseRest(s, rest)
	}
	if f != nil {
		return Address{}, f
	}
	return a, nil
}

func (a *Address) parseRest(s, rest string) *wire.Fault {
	switch a.Scheme {
	case "ws", "wss", "http", "https":
		return a.parseURL(s, rest)
	case "tcp", "tls":
		return a.parseHostPort(s, rest)
	case "unix":
		return a.parseSocket(rest)
	case "ws+unix", "http+unix":
		return a.parseSocketURL(rest)
	case "exec":
		if strings.TrimSpace(rest) == "" {
			return UsageHint("exec:./plugin --flag", "exec: needs a command")
		}
		return a.parseCommand(rest)
	case "ipc":
		return a.parseCommand(rest)
	case "stdio":
		if rest != "" {
			return UsageHint("stdio: means the stdin and stdout of rpcx itself; exec:COMMAND starts a program", "stdio: nothing may follow the colon")
		}
		return nil
	}
	return noScheme(s)
}

// parseURL parses the text after "ws:" or "http:".
func (a *Address) parseURL(s, rest string) *wire.Fault {
	if !strings.HasPrefix(rest, "//") {
		return meant(s, a.Scheme+"://"+strings.TrimLeft(rest, "/"), "%s: needs //host", a.Scheme)
	}
	u, err := url.Parse(s)
	if err != nil {
		if e, ok := err.(*url.Error); ok {
			err = e.Err // because the URL may contain a password
		}
		return wire.Usagef("%s:%s", a.Scheme, " "+err.Error())
	}
	if u.Hostname() == "" && u.Port() == "" {
		return UsageHint(a.Scheme+"://127.0.0.1/", "%s: the host is missing", a.Scheme)
	}
	if strings.Contains(u.Hostname(), ":") && u.Host[0] != '[' {
		return wire.Usagef("%s: an IPv6 address needs brackets", a.Scheme)
	}
	if u.Fragment != "" || strings.HasSuffix(s, "#") {
		return UsageHint("write %23 for a # in the path", "%s: the address contains a #", a.Scheme)
	}
	if f := checkPort(a.Scheme, u.Port()); f != nil {
		return f
	}
	a.User, a.Host = u.User, strings.TrimSuffix(u.Host, ":")
	a.URLPath = urlPath(u)
	return nil
}

// urlPath returns the path and query as they appear in a request line.
func urlPath(u *url.URL) string {
	path := cmp.Or(u.EscapedPath(), "/")
	if u.RawQuery != "" || u.ForceQuery {
		path += "?" + u.RawQuery
	}
	return path
}

// parseHostPort parses the text after "tcp:" or "tls:".
func (a *Address) parseHostPort(s, rest string) *wire.Fault {
	hp, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return meant(s, a.Scheme+"://"+strings.TrimLeft(rest, "/"), "%s: needs //host:port", a.Scheme)
	}
	if bare := strings.TrimSuffix(hp, "/"); bare != hp && !strings.ContainsAny(bare, "/?#@ ") {
		return meant(s, a.Scheme+"://"+bare, "%s: a %s address cannot have a path", a.Scheme, a.Scheme)
	}
	if i := strings.IndexAny(hp, "/?#@ \t\r\n"); i >= 0 {
		return UsageHint(a.Scheme+"://host:port", "%s: %q does not belong in host:port", a.Scheme, hp[i])
	}
	host, port, err := net.SplitHostPort(hp)
	if err != nil {
		return badHostPort(s, a.Scheme, hp)
	}
	if port == "" {
		return wire.Usagef("%s: the port is missing", a.Scheme)
	}
	if f := checkPort(a.Scheme, port); f != nil {
		return f
	}
	if strings.Contains(host, ":") && net.ParseIP(strings.SplitN(host, "%", 2)[0]) == nil {
		return wire.Usagef("%s: %q is not an IPv6 address", a.Scheme, host)
	}
	a.Host = hp
	return nil
}

// badHostPort returns the error for a string that net.SplitHostPort rejects.
func badHostPort(s, scheme, hp string) *wire.Fault {
	i := strings.LastIndexByte(hp, ':')
	switch {
	case hp == "":
		return UsageHint(scheme+"://127.0.0.1:9000", "%s: host and port are missing", scheme)
	case strings.Count(hp, ":") > 1 && !strings.Contains(hp, "["):
		return meant(s, fmt.Sprintf("%s://[%s]:%s", scheme, hp[:i], hp[i+1:]), "%s: an IPv6 address needs brackets", scheme)
	case i < 0 || strings.HasSuffix(hp, "]"):
		return UsageHint(scheme+"://"+hp+":9000", "%s: the port is missing after %s", scheme, hp)
	}
	return wire.Usagef("%s: %q is not host:port", scheme, hp)
}

// checkPort rejects invalid port numbers. It accepts "".
func checkPort(scheme, port string) *wire.Fault {
	if _, err := strconv.ParseUint(port, 10, 16); port != "" && err != nil {
		return wire.Usagef("%s: %q is not a port number (0 to 65535)", scheme, port)
	}
	return nil
}

// parseSocket parses the path to a Unix socket. It also accepts unix:///path.
func (a *Address) parseSocket(path string) *wire.Fault {
	if abs, ok := strings.CutPrefix(path, "//"); ok {
		if !strings.HasPrefix(abs, "/") {
			return UsageHint(fmt.Sprintf("%s:%s or %s:/%s", a.Scheme, abs, a.Scheme, abs), "%s: a path cannot begin with two slashes", a.Scheme)
		}
		path = "/" + strings.TrimLeft(abs, "/") // Parse rejects two leading slashes
	}
	if home, ok := strings.CutPrefix(path, "~/"); ok {
		return UsageHint(a.Scheme+":$HOME/"+home+", for your shell to expand, or "+a.Scheme+":./~/"+home, "%s: a ~ is not expanded", a.Scheme)
	}
	if path == "" {
		return UsageHint(a.Scheme+":/path/to/socket", "%s: the path of the socket is missing", a.Scheme)
	}
	a.Path = path
	return nil
}

// parseSocketURL parses PATH:/URLPATH.
func (a *Address) parseSocketURL(rest string) *wire.Fault {
	path, target := rest, "/"
	if i := strings.LastIndex(rest, ":/"); i >= 0 {
		path, target = rest[:i], rest[i+1:]
	}
	u, err := url.ParseRequestURI("http://host" + target)
	if err != nil || strings.Contains(target, "#") {
		return wire.Usagef("%s: %q is not a URL path", a.Scheme, target)
	}
	a.URLPath = urlPath(u)
	return a.parseSocket(path)
}

// At returns a with another path and query, which come from a dialect file or from the peer and must not lead to
// another authority. If path does not begin with "/", At returns a Protocol Fault.
func (a Address) At(path string) (Address, error) {
	if !strings.HasPrefix(path, "/") {
		return a, wire.NewFault(wire.Protocol, wire.Quote(path)+" is not a path of "+a.Host+": a path begins with /", nil)
	}
	a.URLPath = path
	return a, nil
}

// String returns the address in a form that can be shown to users. It replaces userinfo, the values in a query, and
// secrets among the command's words with "…". If nothing was replaced, Parse accepts the result.
func (a Address) String() string {
	switch a.Scheme {
	case "ws", "wss", "http", "https":
		user := ""
		if a.User != nil {
			user = redact.Mark + "@"
		}
		return a.Scheme + "://" + user + a.Host + redact.Query(a.URLPath)
	case "tcp", "tls":
		return a.Scheme + "://" + a.Host
	case "unix":
		return a.Scheme + ":" + a.Path
	case "ws+unix", "http+unix":
		return a.Scheme + ":" + a.Path + ":" + redact.Query(a.URLPath)
	}
	return a.Scheme + ":" + ShownCommand(a.Command)
}

// noScheme returns the error for an address that does not begin with a known transport. Its hint is a guess at the
// address that was meant.
func noScheme(s string) *wire.Fault {
	head, rest, colon := strings.Cut(s, ":")
	port, _, _ := strings.Cut(rest, "/")
	_, err := strconv.ParseUint(port, 10, 16)
	var hint string
	switch {
	case s == "":
		return UsageHint("ws://host/path, tcp://host:port, unix:PATH or exec:COMMAND", "the endpoint is empty")
	case strings.Trim(s, ":0123456789") == "":
		hint = anyTransport("127.0.0.1:" + strings.TrimPrefix(s, ":"))
	case strings.ContainsAny(s[:1], "./~") && (strings.HasSuffix(s, ".sock") || strings.HasSuffix(s, ".socket")):
		hint = "unix:" + s
	case strings.ContainsAny(s[:1], "./~"):
		hint = "exec:COMMAND starts a program, unix:PATH connects to a socket"
	case colon && err == nil && port == rest:
		hint = anyTransport(s)
	case colon && err == nil, !colon && strings.ContainsAny(s, "./"):
		hint = "ws://" + s + " or http://" + s
	case !colon:
		hint = fmt.Sprintf("ws://%s/, exec:%s or @%s", s, s, s)
	default:
		return UsageHint(transportOf(head, rest), "unknown transport %q", head)
	}
	return UsageHint(hint, "%q does not begin with a transport", s)
}

func anyTransport(at string) string {
	return fmt.Sprintf("tcp://%[1]s, ws://%[1]s/ or http://%[1]s/", at)
}

// transportOf returns the hint for head, an unknown transport: the transport that is one of its words, or a list.
func transportOf(head, rest string) string {
	schemes := []string{"ws", "wss", "http", "https", "tcp", "tls", "unix", "exec", "ipc", "stdio"}
	if scheme, word, two := strings.Cut(head, "+"); two && slices.Contains(schemes, scheme) && !slices.Contains(schemes, word) {
		return "the transport comes last: " + word + "+" + scheme + ":" + rest
	}
	return "use ws, wss, http, https, tcp, tls, unix, ws+unix, http+unix, exec, ipc or stdio"
}
