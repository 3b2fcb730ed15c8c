package transport

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/redact"
)

// An Address is a transport and what it reaches, taken apart.
type Address struct {
	Scheme  string        // "ws", "http+unix", "exec", …
	User    *url.Userinfo // of ws, wss, http, https; nil: none
	Host    string        // as written: host or host:port of ws, wss, http, https; host:port of tcp, tls
	Path    string        // the socket's path of unix, ws+unix, http+unix
	URLPath string        // path and query of ws and http, beginning with "/"
	Command []string      // the words of exec and ipc; empty for `ipc:` alone
}

// HostPort returns host:port of a URL.
func HostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// Origin returns scheme, host and port of u, by which redirects and pages are told
// apart.
func Origin(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(HostPort(u)) }

// WebSocket reports whether the address is one of a WebSocket.
func (a Address) WebSocket() bool { return strings.HasPrefix(a.Scheme, "ws") }

// IsHTTP says that a is one of HTTP, without a WebSocket.
func (a Address) IsHTTP() bool { return strings.HasPrefix(a.Scheme, "http") }

// Usage returns a Fault of kind Usage.
func Usage(format string, args ...any) *wire.Fault {
	return wire.NewFault(wire.Usage, fmt.Sprintf(format, args...), nil)
}

// UsageHint is usage with a hint.
func UsageHint(hint, format string, args ...any) *wire.Fault {
	f := Usage(format, args...)
	f.Hint = hint
	return f
}

// Parse takes an address such as "tcp://127.0.0.1:9000" or "exec:./plugin -v"
// apart. It looks at nothing but the text. Its errors are Faults of kind Usage
// that name what is wrong, with what to write instead as their hint.
func Parse(s string) (Address, error) {
	scheme, rest, ok := strings.Cut(s, ":")
	a := Address{Scheme: scheme}
	var f *wire.Fault
	switch {
	case !ok:
		f = noScheme(s)
	case strings.ContainsRune(s, 0):
		f = Usage("%s: holds a NUL", scheme)
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
		return a.parseHostPort(rest)
	case "unix":
		return a.parseSocket(rest)
	case "ws+unix", "http+unix":
		return a.parseSocketURL(rest)
	case "exec":
		if strings.TrimSpace(rest) == "" {
			return UsageHint("exec:./plugin --flag", "exec: has no command")
		}
		return a.parseCommand(rest)
	case "ipc":
		return a.parseCommand(rest)
	case "stdio":
		if rest != "" {
			return UsageHint("stdio:", "stdio: takes nothing after the colon")
		}
		return nil
	}
	return noScheme(s)
}

// parseURL reads what follows "ws:" or "http:".
func (a *Address) parseURL(s, rest string) *wire.Fault {
	if !strings.HasPrefix(rest, "//") {
		return UsageHint(a.Scheme+"://"+strings.TrimLeft(rest, "/"), "%s: is followed by //host", a.Scheme)
	}
	u, err := url.Parse(s)
	if err != nil {
		if e, ok := err.(*url.Error); ok {
			err = e.Err // without the URL, which may hold a password
		}
		return Usage("%s:%s", a.Scheme, " "+err.Error())
	}
	if u.Hostname() == "" && u.Port() == "" {
		return UsageHint(a.Scheme+"://127.0.0.1/", "%s: names no host", a.Scheme)
	}
	if strings.Contains(u.Hostname(), ":") && u.Host[0] != '[' {
		return Usage("%s: an IPv6 address stands in brackets", a.Scheme)
	}
	if u.Fragment != "" || strings.HasSuffix(s, "#") {
		return UsageHint("write %23 for a # that is part of the path", "%s: a # is no part of an address that is dialled", a.Scheme)
	}
	if f := checkPort(a.Scheme, u.Port(), true); f != nil {
		return f
	}
	a.User, a.Host = u.User, strings.TrimSuffix(u.Host, ":")
	a.URLPath = urlPath(u)
	return nil
}

// urlPath returns the path and the query, as they go into a request line.
func urlPath(u *url.URL) string {
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" || u.ForceQuery {
		path += "?" + u.RawQuery
	}
	return path
}

// parseHostPort reads what follows "tcp:" or "tls:".
func (a *Address) parseHostPort(rest string) *wire.Fault {
	hp, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return UsageHint(a.Scheme+"://"+strings.TrimLeft(rest, "/"), "%s: is followed by //host:port", a.Scheme)
	}
	if i := strings.IndexAny(hp, "/?#@ \t\r\n"); i >= 0 {
		return UsageHint(a.Scheme+"://host:port", "%s: %q is no part of host:port", a.Scheme, hp[i])
	}
	host, port, err := net.SplitHostPort(hp)
	if err != nil {
		return badHostPort(a.Scheme, hp)
	}
	if f := checkPort(a.Scheme, port, false); f != nil {
		return f
	}
	if strings.Contains(host, ":") && net.ParseIP(strings.SplitN(host, "%", 2)[0]) == nil {
		return Usage("%s: %q is no IPv6 address", a.Scheme, host)
	}
	a.Host = hp
	return nil
}

// badHostPort says what net.SplitHostPort did not like about hp.
func badHostPort(scheme, hp string) *wire.Fault {
	i := strings.LastIndexByte(hp, ':')
	switch {
	case hp == "":
		return UsageHint(scheme+"://127.0.0.1:9000", "%s: names no host and no port", scheme)
	case strings.Count(hp, ":") > 1 && !strings.Contains(hp, "["):
		return UsageHint(fmt.Sprintf("%s://[%s]:%s", scheme, hp[:i], hp[i+1:]), "%s: an IPv6 address stands in brackets", scheme)
	case i < 0 || strings.HasSuffix(hp, "]"):
		return UsageHint(scheme+"://"+hp+":9000", "%s: the port is missing after %s", scheme, hp)
	}
	return Usage("%s: %q is not host:port", scheme, hp)
}

// checkPort refuses what is no port number.
func checkPort(scheme, port string, optional bool) *wire.Fault {
	if port == "" {
		if optional {
			return nil
		}
		return Usage("%s: the port is missing", scheme)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return Usage("%s: %q is no port number (0 to 65535)", scheme, port)
	}
	return nil
}

// parseSocket reads the path of a Unix socket; the form of a URL,
// unix:///path, is tolerated.
func (a *Address) parseSocket(path string) *wire.Fault {
	if abs, ok := strings.CutPrefix(path, "//"); ok {
		if !strings.HasPrefix(abs, "/") {
			return UsageHint(fmt.Sprintf("%s:%s or %s:/%s", a.Scheme, abs, a.Scheme, abs), "%s: two slashes do not begin a path", a.Scheme)
		}
		path = "/" + strings.TrimLeft(abs, "/") // what begins with two slashes would not be read back
	}
	if home, ok := strings.CutPrefix(path, "~/"); ok {
		return UsageHint(a.Scheme+":$HOME/"+home+", for your shell to expand, or "+a.Scheme+":./~/"+home, "%s: a ~ is expanded by nobody here", a.Scheme)
	}
	if path == "" {
		return UsageHint(a.Scheme+":/path/to/socket", "%s: names no socket", a.Scheme)
	}
	a.Path = path
	return nil
}

// parseSocketURL reads PATH:/URLPATH.
func (a *Address) parseSocketURL(rest string) *wire.Fault {
	path, target := rest, "/"
	if i := strings.LastIndex(rest, ":/"); i >= 0 {
		path, target = rest[:i], rest[i+1:]
	}
	u, err := url.ParseRequestURI("http://host" + target)
	if err != nil || strings.Contains(target, "#") {
		return Usage("%s: %q is no URL path", a.Scheme, target)
	}
	a.URLPath = urlPath(u)
	return a.parseSocket(path)
}

// At returns a with another path and query. The path comes from a dialect file or from the peer, and
// must not lead to another authority: one that does not begin with "/" is a Protocol Fault.
func (a Address) At(path string) (Address, error) {
	if !strings.HasPrefix(path, "/") {
		return a, wire.NewFault(wire.Protocol, wire.Quote(path)+" is not a path of "+a.Host+": a path begins with /", nil)
	}
	a.URLPath = path
	return a, nil
}

// String returns the address as a user may be shown it: userinfo, the values of a query, and words of a command that are
// named like secrets, are replaced by "…". Where there is nothing of that kind, Parse takes it back.
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

// noScheme returns the answer to an address that begins with no transport that
// we know, with a guess at what was meant.
func noScheme(s string) *wire.Fault {
	head, rest, colon := strings.Cut(s, ":")
	port, _, _ := strings.Cut(rest, "/")
	_, err := strconv.ParseUint(port, 10, 16)
	switch {
	case s == "":
		return UsageHint("ws://host/path, tcp://host:port, unix:PATH or exec:COMMAND", "the endpoint is empty")
	case strings.HasPrefix(s, "."), strings.HasPrefix(s, "/"), strings.HasPrefix(s, "~"):
		if strings.HasSuffix(s, ".sock") || strings.HasSuffix(s, ".socket") {
			return UsageHint("unix:"+s, "%q has no transport in front", s)
		}
		return UsageHint("exec:"+s, "%q has no transport in front", s)
	case colon && err == nil && port == rest:
		return UsageHint(fmt.Sprintf("tcp://%[1]s, ws://%[1]s/ or http://%[1]s/", s), "%q has no transport in front", s)
	case colon && err == nil, !colon && strings.ContainsAny(s, "./"):
		return UsageHint("ws://"+s+" or http://"+s, "%q has no transport in front", s)
	case !colon:
		return UsageHint(fmt.Sprintf("ws://%s/, exec:%s or @%s", s, s, s), "%q has no transport in front", s)
	}
	return UsageHint("ws, wss, http, https, tcp, tls, unix, ws+unix, http+unix, exec, ipc and stdio are known", "unknown transport %q", head)
}
