package options

import (
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/transport/schemes"
)

// A row contains the requirements of some flags. A flag applies if all its rows are met. Otherwise help omits the flag,
// the command line rejects it, and rpcx ignores its key in profiles and in [default].
type row struct {
	flags    []string
	commands []string // nil for all commands with the flags
	needs    *property
	with     string // the flags, one of which is required, or "" if the property concerns the endpoint
}

// A property is a requirement on an endpoint or the command line.
type property struct {
	holds func(s *Situation) bool
	says  func() string             // for errors and the manual
	has   func(d dialect.Spec) bool // the condition on the dialect; nil if the property does not concern dialects
}

// table determines which flags apply.
var table = []row{
	// These flags have an effect when a session connects.
	{
		flags: []string{
			"header", "token-command", "subprotocol", "cacert", "cert", "key", "insecure", "proxy", "resolve", "connect-timeout", "ping", "noise",
			"max-message", "resume", "no-environment", "shutdown-timeout", "record", "redact", "no-redact", "force", "append", "on-tape-error", "account",
		},
		needs: newConnection,
	},
	{flags: []string{"strict"}, commands: pluginClients, needs: newConnection},

	// These flags require a session.
	{flags: []string{"lossy"}, needs: inSession},

	// These flags determine how rpcx reaches the peer.
	{flags: []string{"cacert", "cert", "key"}, needs: probing(encrypted)},
	{flags: []string{"insecure"}, needs: probing(dialled(encrypted))},
	{flags: []string{"subprotocol"}, needs: webSocket},
	{flags: []string{"noise"}, needs: spawned},
	{flags: []string{"strict"}, commands: pluginClients, needs: spawned},
	{flags: []string{"connect-timeout"}, needs: socket},
	{flags: []string{"proxy", "resolve"}, needs: network},
	{flags: []string{"header", "token-command"}, needs: headers},
	{flags: []string{"account"}, needs: web},
	{flags: []string{"ping"}, needs: pinged},
	{flags: []string{"wait"}, needs: reached},

	// These flags are for listeners.
	{flags: []string{"public", "listening", "max-clients"}, needs: listener},
	{flags: []string{"allow-origin", "token"}, needs: webListener},

	// These flags depend on the dialect.
	{flags: []string{"refresh"}, needs: newConnection},
	{flags: []string{"refresh", "no-cache"}, commands: append([]string{"serve"}, requesters...), needs: inDialect(func(d dialect.Spec) bool { return d.Discovery.IsCached() || d.AnswerCache != nil })},
	{flags: []string{"cache"}, needs: inDialect(func(d dialect.Spec) bool { return d.AnswerCache != nil })},
	{flags: []string{"params-style"}, needs: inDialect(func(d dialect.Spec) bool { return d.Params.Styles != nil })},
	{flags: []string{"set"}, commands: requesters, needs: inDialect(func(d dialect.Spec) bool { return d.Params.Settings != nil })},
	{flags: []string{"set"}, commands: greeters, needs: inDialect(hasHandshakeSettings)},
	{flags: []string{"set"}, commands: []string{"serve"}, needs: dialled(inDialect(hasHandshakeSettings))},
	{flags: []string{"resume"}, needs: inDialect(func(d dialect.Spec) bool { return d.Handshake.Resumes })},
	{flags: []string{"no-environment", "shutdown-timeout"}, needs: inDialect(func(d dialect.Spec) bool { return d.Handshake.Plugin })},
	{flags: []string{"complete", "reset", "cursor", "every", "on-change", "frame", "artifacts"}, needs: inDialect(func(d dialect.Spec) bool { return d.Evaluation.IsLive() })},
	{flags: []string{"input-timeout", "state-key", "print-config"}, needs: inDialect(func(d dialect.Spec) bool { return d.Handshake.Rounds })},
	{flags: []string{"kind", "limit"}, commands: []string{"job list"}, needs: inDialect(func(d dialect.Spec) bool { return d.Jobs != nil && d.Jobs.Journal })},
	{flags: []string{"save", "max-artifact"}, commands: []string{"call"}, needs: inDialect(func(d dialect.Spec) bool { return d.Files.AreEmbedded() })}, // the job commands have a --save of their own
	{flags: []string{"runtime"}, needs: inDialect(func(d dialect.Spec) bool { return d.Evaluation != nil && d.Evaluation.Runtime })},
	{flags: []string{"grace"}, commands: []string{"call"}, needs: inDialect(func(d dialect.Spec) bool { return d.Discovery.ByModule() })},
	{flags: []string{"no-check"}, commands: []string{"call", "subscribe", "job run", "job start"}, needs: checked},

	// These flags depend on other flags.
	with("cert", "key"),
	with("record", "redact", "no-redact", "force", "append", "on-tape-error").not("record"),
	with("batch", "jobs", "unordered").only("call"),
	with("retry", "retry-unsafe"),
	with("to", "use-login", "set").only("serve"),
	{flags: []string{"use-login"}, needs: web},
	{flags: []string{"use-login"}, needs: guarded},
	with("use-login", "account").only("serve"),
	with("use-login", "account").only("record"),
	with("client-id", "client-secret", "client-credentials").only("auth login"),
	with("client-id|client-metadata", "client-key").only("auth login"),
	with("complete", "cursor"),
	with("save", "max-artifact", "artifact-root", "artifact-host"),
	with("session", "ensure", "idle-exit", "subscribe", "inbox-timeout", "inbox-default").only("connect"),
	with("on|hooks|on-open|runtime", "hook-timeout", "hook-jobs", "strict-hooks"),
	with("jq|expect|expect-any|expect-none|until|select", "arg", "argjson"),
}

// Commands that send requests, that only perform a handshake, and that call a plugin.
var (
	requesters    = []string{"call", "eval", "subscribe", "job run", "job start"}
	greeters      = []string{"connect", "describe", "validate", "job status", "job wait", "job cancel", "job list"}
	pluginClients = []string{"plugin call", "plugin new", "plugin method", "plugin get", "plugin set", "plugin destroy", "plugin describe", "plugin run"}
)

// Properties of endpoints.
var (
	encrypted = having("wss://, https:// or tls://", func(e endpoint.Endpoint) bool { return isOneOf(e, "wss", "https", "tls") })
	spawned   = having("an exec: or ipc: endpoint", func(e endpoint.Endpoint) bool { return isOneOf(e, "exec", "ipc") })
	socket    = dialled(having("an address, not a command", func(e endpoint.Endpoint) bool {
		return isOneOf(e, "ws", "wss", "ws+unix", "http", "https", "http+unix", "tcp", "tls", "unix")
	}))
	network = dialled(having("tcp, tls, ws or http", func(e endpoint.Endpoint) bool {
		return isOneOf(e, "ws", "wss", "http", "https", "tcp", "tls") && e.Reversed != endpoint.Accept
	}))
	web         = dialled(having("http, https, ws or wss", func(e endpoint.Endpoint) bool { return isOneOf(e, "http", "https", "ws", "wss") }))
	headers     = dialled(having("a peer to connect to over HTTP, WebSocket or header framing", func(e endpoint.Endpoint) bool { return e.TakesHeaders() }))
	pinged      = having("ws, tcp or tls", func(e endpoint.Endpoint) bool { return e.Socket == "" && schemes.Pings(e.Address) })
	reached     = dialled(having("a peer to connect to", func(endpoint.Endpoint) bool { return true }))
	listener    = listening("an address to which clients connect (serve, or accept+ before the transport)", func(e endpoint.Endpoint) bool { return !isOneOf(e, "stdio") })
	webListener = listening("an HTTP or WebSocket address to which clients connect (serve, or accept+ before the transport)", func(e endpoint.Endpoint) bool { return schemes.TakesHeaders(e.Address) })

	// guarded holds for listeners that not every user of this machine can use.
	guarded = &property{
		says: text("a guarded LISTEN: --token @FILE, --cacert with TLS, a Unix socket or stdio:"),
		holds: func(s *Situation) bool {
			return s.Has("token") || !slices.ContainsFunc(s.Listens, func(e endpoint.Endpoint) bool {
				return !isOneOf(e, "unix", "ws+unix", "http+unix", "stdio") && !(s.Has("cacert") && isOneOf(e, "wss", "https", "tls"))
			})
		},
	}

	webSocket = &property{
		says: text("a WebSocket"),
		holds: func(s *Situation) bool {
			return slices.ContainsFunc(s.Dials, func(e endpoint.Endpoint) bool { return e.Address.WebSocket() || e.Resolves() }) ||
				slices.ContainsFunc(s.Listens, func(e endpoint.Endpoint) bool { return e.Address.WebSocket() || e.Address.IsHTTP() })
		},
	}

	// checked holds if rpcx can check parameters, with --catalog or because the dialect has names or schemas.
	checked = &property{
		says: func() string {
			return "--catalog FILE, or a dialect with schemas: " + wire.Phrase(dialectsWith(checks), "or")
		},
		holds: func(s *Situation) bool { return s.Unknown || s.Has("catalog") || inAny(s, checks) },
	}

	// inSession holds for @NAME.
	inSession = having("a session (@NAME)", func(e endpoint.Endpoint) bool { return e.Socket != "" || e.Session != "" })

	// newConnection holds if the command opens a connection.
	newConnection = having("a new connection, not a session", func(e endpoint.Endpoint) bool { return e.Socket == "" && e.Session == "" })
)

func hasHandshakeSettings(d dialect.Spec) bool {
	return slices.ContainsFunc(d.Params.Settings, func(s dialect.Setting) bool { return s.Handshake })
}

func checks(d dialect.Spec) bool { return d.Params.Typed || d.Names.Check != nil }

func text(says string) func() string { return func() string { return says } }

// having returns the property of having an endpoint that satisfies a condition.
func having(says string, holds func(e endpoint.Endpoint) bool) *property {
	return &property{says: text(says), holds: func(s *Situation) bool { return slices.ContainsFunc(s.each(), holds) }}
}

// probing returns p, which network endpoints also meet with --probe, because the peer may use TLS.
func probing(p *property) *property {
	return &property{says: p.says, holds: func(s *Situation) bool {
		return p.holds(s) || s.Has("probe") && network.holds(s)
	}}
}

// dialled restricts p to the endpoints to which rpcx connects.
func dialled(p *property) *property {
	return &property{says: p.says, holds: func(s *Situation) bool {
		reversed := slices.DeleteFunc(slices.Clone(s.Listens), func(e endpoint.Endpoint) bool { return e.Reversed != endpoint.Dial })
		return p.holds(&Situation{Dials: slices.Concat(s.Dials, reversed)})
	}}
}

// listening is like having, but only for endpoints to which other programs connect.
func listening(says string, holds func(e endpoint.Endpoint) bool) *property {
	return &property{says: text(says), holds: func(s *Situation) bool {
		return slices.ContainsFunc(s.Dials, func(e endpoint.Endpoint) bool { return e.Reversed == endpoint.Accept && holds(e) }) ||
			slices.ContainsFunc(s.Listens, func(e endpoint.Endpoint) bool { return e.Reversed != endpoint.Dial && holds(e) })
	}}
}

// inDialect returns the property of having an endpoint whose dialect satisfies a condition.
func inDialect(has func(d dialect.Spec) bool) *property {
	return &property{
		has:   has,
		says:  func() string { return "the " + wire.Phrase(dialectsWith(has), "or") + " dialect" },
		holds: func(s *Situation) bool { return s.Unknown || inAny(s, has) },
	}
}

// dialectsWith returns the names of the dialects that satisfy a condition.
func dialectsWith(has func(d dialect.Spec) bool) []string {
	return slices.DeleteFunc(all.Names(), func(name string) bool { return !has(all.Named(name)) })
}

func inAny(s *Situation, has func(d dialect.Spec) bool) bool {
	return slices.ContainsFunc(s.each(), func(e endpoint.Endpoint) bool { return has(e.Spec()) })
}

// with returns the row of flags that need one of others, which are separated by |.
func with(others string, flags ...string) row {
	names := strings.Split(others, "|")
	shown := "--" + strings.ReplaceAll(wire.Phrase(names, "or"), ", ", ", --")
	shown = strings.ReplaceAll(shown, " or ", " or --")
	return row{flags: flags, with: shown, needs: &property{says: text(shown), holds: func(s *Situation) bool { return s.Has(names...) }}}
}

// only restricts r to certain commands.
func (r row) only(commands ...string) row {
	r.commands = commands
	return r
}

// not excludes certain commands from r.
func (r row) not(command string) row {
	holds := r.needs.holds
	r.needs = &property{says: r.needs.says, holds: func(s *Situation) bool { return s.Command == command || holds(s) }}
	return r
}

func isOneOf(e endpoint.Endpoint, schemes ...string) bool {
	return e.Socket == "" && slices.Contains(schemes, e.Address.Scheme)
}
