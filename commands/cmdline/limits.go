package cmdline

// A Limit bounds a wait that a peer could prolong, or a buffer that it could fill.
type Limit struct {
	What  string
	Bound string
	Flag  string // the flag that changes the limit, without dashes, or ""
	Then  string // what happens at the limit
}

// Limits returns the manual's table of the waits that a peer could prolong and the buffers that it could fill.
func Limits() []Limit {
	return []Limit{
		{"connecting, including TLS and the upgrade", "10s", "connect-timeout", "status 3"},
		{"a handshake", "15s", "", "status 124"},
		{"a call, between two messages", "60s; none in subscribe and connect", "idle", "status 124, in subscribe a normal end"},
		{"a whole call", "none", "timeout", "status 124"},
		{"waiting for a stream's end after an error", "1s", "grace", "the call ends with that error"},
		{"the response to a cancel or unsubscribe", "1s; 0.2s after --timeout or a signal", "", "rpcx exits; a second Ctrl-C exits at once"},
		{"each step of closing a connection", "1s; 2s for a listener; 0.4s for all steps after --timeout or a signal", "", "rpcx closes it"},
		{"a child's exit after its stdin is closed", "1s; 0.4s after --timeout or a signal", "", "rpcx sends SIGTERM to its process group"},
		{"a child's exit after SIGTERM", "1s; 0.15s after --timeout or a signal", "", "rpcx kills it with its process group"},
		{"reading the output of a child that has ended, if another process keeps it open", "1s", "", "rpcx stops reading it"},
		{"writing to stdout and stderr, after --timeout or a signal", "0.4s", "", "the rest is lost"},
		{"responses to a peer that has closed its sending side", "60s", "", "rpcx closes the connection"},
		{"a hook, except streams whose items are sent one by one", "60s", "hook-timeout", "rpcx kills it, and the peer gets -32603"},
		{"the items of a hook that share one response, for example to a POST", "64 MiB, within the time of a hook", "hook-timeout", "rpcx kills the hook, and the peer gets -32000"},
		{"hooks that wait for the next request of an MCP 2026-07-28 client", "256, 5m each", "input-timeout", "the call fails, and rpcx kills the hook"},
		{"reconnecting after a lost connection", "5m", "reconnect-for", "the command fails"},
		{"redirects of one request", "5, to the same origin", "", "status 3"},
		{"the body of an HTTP response with an error status", "1s, 64 KiB unless it is JSON", "", "rpcx uses the status, and the part of the body that has arrived"},
		{"a request for the schemas of a service (introspect)", "15s", "", "rpcx prints a warning, and does not convert or check params"},
		{"a request for the state of a job (hotrepl)", "15s", "", "rpcx requests it again, or ends with status 124"},
		{"a message", "64 MiB", "max-message", "status 5"},
		{"the nesting of a message", "1,000", "", "status 5"},
		{"messages in one batch", "65,536", "", "rpcx rejects the batch"},
		{"items of a stream that are not printed yet", "8 MiB", "", "rpcx stops reading; if it awaits a response, it reads up to one more message, then ends with status 74"},
		{"messages that connect has not printed yet", "8 MiB", "", "rpcx stops reading; in a session, it ends with status 74"},
		{"items of a stream before the response that names it", "8 MiB", "", "the stream ends with status 74 and the number of lost items"},
		{"notifications that wait for their hook", "1,024 or 8 MiB", "", "rpcx stops reading; if it awaits a response, it reads up to 8,192 notifications or 128 MiB, then drops the oldest with a warning"},
		{"responses that the peer does not read", "16 MiB", "", "rpcx stops reading"},
		{"responses to POST requests", "64 at once", "", "rpcx stops reading"},
		{"clients of a listener, from the TLS handshake on", "1,000", "max-clients", "rpcx closes further connections, with a warning"},
		{"the head of a client's HTTP request, including its TLS handshake", "10s, 64 KiB", "", "rpcx closes the connection, or answers 431"},
		{"the body of a client's POST", "30s between two pieces, and 1 KiB/s", "", "rpcx answers 408, and closes the connection"},
		{"a client's TLS handshake (tls)", "10s", "", "rpcx closes the connection, with a warning"},
		{"a client's HTTP connection without a request", "2m", "", "rpcx closes it"},
		{"a response to a POST that its client does not read", "30s, and 1 KiB/s; 2s when serve ends", "", "rpcx closes it"},
		{"sessions of an HTTP listener (such as mcp)", "1,000", "", "further ones get 503"},
		{"a session over HTTP without a request", "30m", "", "the session ends, and its client gets 404"},
		{"messages of a session over HTTP that the client can request again", "1 MiB, 1,024 messages; 256 MiB for all sessions", "", "rpcx drops the oldest, and waits for slow readers"},
		{"requests of one client in flight", "1,088, 128 MiB", "max-inflight", "rpcx stops reading; if it awaits a response or a stream is open, the peer gets -32000, busy"},
		{"unread responses of all clients of a listener", "256 MiB", "", "rpcx stops reading; if a response over 64 KiB would exceed the limit, it sends error -32000 instead"},
		{"batch requests in the queue", "65,536; none while all requests in flight are streams", "", "the peer gets -32000, busy"},
		{"scomp sessions without a connection", "1,024, 10m each", "", "the oldest ends"},
		{"the peer's functions (scomp)", "65,536, 8 MiB", "", "rpcx does not release further ones"},
		{"MCP 2026-07-28 subscriptions", "1,000, each with 256 pending changes, 100 resources and 100 tasks", "", "rpcx rejects further subscriptions, and does not report further changes, resources and tasks"},
		{"MCP 2026-07-28 tasks", "1,024 running, 1,024 ended, 1h each", "", "with too many running tasks, the call fails; of the ended tasks, rpcx forgets the oldest"},
		{"jobs on a connection (ro)", "256", "", "rpcx forgets the oldest"},
		{"calls in a session's inbox", "1,024", "", "the peer gets -32000, busy"},
		{"the ring of a session", "65,536 messages or 8 MiB", "", "the oldest are lost, and a gap event reports that"},
		{"the subschemas of a schema, including those that it refers to", "5,000", "", "rpcx prints a warning, and does not use the schema; validate ends with status 2"},
		{"checking a value against a schema", "5,000,000 steps, about 1s", "", "rpcx does not check the rest"},
		{"a jq program in a dialect file, for one message", "0.1s, 20,000,000 steps, 256 MiB; 64 MiB in one step", "", "the program fails: a client ends with status 8, a server answers -32603"},
		{"a jq program on a tape, for one message", "1s, 20,000,000 steps, 256 MiB; 64 MiB in one step", "", "the program counts as false"},
		{"lines of a child that are not messages", "100", "noise", "status 5"},
		{"different warnings about one peer", "200", "", "rpcx shows further ones only with -v"},
	}
}
