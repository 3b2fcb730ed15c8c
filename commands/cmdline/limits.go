package cmdline

// A Limit is a wait or a buffer that a peer could prolong or fill, with its
// bound.
type Limit struct {
	What  string // what is awaited or stored
	Bound string // how long, or how much
	Flag  string // the flag that changes it, without dashes; "": none
	Then  string // what happens beyond it
}

// Limits returns the table of the manual: everything that a peer could prolong
// or fill.
func Limits() []Limit {
	return []Limit{
		{"a connection, TLS and the upgrade included", "10s", "connect-timeout", "status 3"},
		{"a greeting", "15s", "", "status 124"},
		{"a call: the time between two messages of it", "60s; none in subscribe and connect", "idle", "status 124, in subscribe a normal end"},
		{"a call, from its beginning to its end", "none", "timeout", "status 124"},
		{"the end of a stream after an error in it", "1s", "grace", "the error is the outcome"},
		{"what the peer answers to a cancel or unsubscribe", "1s; 0.2s after --timeout or a signal", "", "rpcx goes; a second Ctrl-C goes at once"},
		{"the end of a connection, each step of it", "1s, of a listener's 2s; all of it 0.4s after --timeout or a signal", "", "it is cut"},
		{"the end of a child when its stdin is closed, and again when it was asked to end", "1s; 0.4s and 0.15s after --timeout or a signal", "", "it is forced, with its process group"},
		{"what others keep open of a child that has ended", "1s", "", "it is not read any longer"},
		{"who reads our stdout and stderr, after --timeout or a signal", "0.4s", "", "the rest is not written"},
		{"answers to requests of a peer that sends no more", "60s", "", "the connection is closed"},
		{"a hook; one whose items the peer takes as they come has no bound", "60s", "hook-timeout", "it is ended, the peer gets -32603"},
		{"the items of a hook that go into one answer, as to a POST", "64 MiB, in the time of a hook", "hook-timeout", "the hook is ended, the peer gets -32000"},
		{"a lost connection that is to be made again", "5m", "reconnect-for", "the command fails as it would have without"},
		{"redirects of one request", "5, to the same origin", "", "status 3"},
		{"the body of an HTTP answer that is no success", "1s, 64 KiB where it is no JSON", "", "the status counts, with what has come"},
		{"a question of ours about what a service offers (introspect)", "15s", "", "nothing is typed or checked, with a warning"},
		{"an answer about a job (hotrepl)", "15s", "", "it is asked again, or status 124"},
		{"a message", "64 MiB", "max-message", "status 5"},
		{"the nesting of a message", "1,000", "", "status 5"},
		{"messages in one batch", "65,536", "", "the batch is refused"},
		{"what a stream has brought and is not printed yet", "8 MiB", "", "reading stops; where an answer must be read, up to one more message, then status 74"},
		{"what connect has to print", "8 MiB", "", "reading stops; in a session status 74"},
		{"what came of a stream before the answer that names it", "8 MiB", "", "the stream ends with status 74 and the number of what was lost"},
		{"notifications that wait for their hook", "1,024 or 8 MiB", "", "reading stops; where an answer must be read, 8,192 or 128 MiB, then the oldest are lost, with a warning"},
		{"answers of ours that the peer does not read", "16 MiB", "", "reading stops"},
		{"answers of ours over HTTP, each a POST", "64 at once", "", "reading stops"},
		{"clients of a listener", "1,000", "max-clients", "others are hung up on, with a warning"},
		{"the head of a client's HTTP request, its TLS handshake included", "10s, 64 KiB", "", "it is hung up on, or answered 431"},
		{"the body of a client's POST", "30s between two pieces, and 1 KiB/s", "", "it is answered 408 and hung up on"},
		{"a client's TLS handshake (tls)", "10s, 64 at once", "", "it is hung up on, with a warning"},
		{"a client's HTTP connection without a request", "2m", "", "it is closed"},
		{"an answer to a POST that its client does not take", "30s, and 1 KiB/s; when serve ends 2s", "", "it is cut"},
		{"sessions of clients of an HTTP listener (pages, such as mcp)", "1,000", "", "others are answered 503"},
		{"a session over HTTP in which nothing comes", "30m", "", "it ends, and its client is answered 404"},
		{"what a session over HTTP was told and can be asked for again", "1 MiB, 1,024 messages; 256 MiB of all sessions", "", "the oldest is dropped; who reads too slowly is waited for"},
		{"requests of one client that are being answered", "1,088, 128 MiB", "max-inflight", "no more are read"},
		{"answers that all clients of a listener have not read", "256 MiB", "", "no more requests are read"},
		{"requests of batches that wait until there is room for them", "65,536", "", "the peer gets -32000, busy"},
		{"sessions of scomp that nobody is connected to", "1,024, 10m each", "", "the oldest ends"},
		{"functions of the peer that are remembered (scomp)", "65,536, 8 MiB", "", "further ones are not released"},
		{"jobs that a connection remembers (ro)", "256", "", "the oldest is forgotten"},
		{"calls in a session's inbox", "1,024", "", "the peer gets -32000, busy"},
		{"what a session keeps of what came unasked", "65,536 messages or 8 MiB", "", "the oldest are lost, with a gap event"},
		{"schemas that one schema consists of, those that it refers to included", "5,000", "", "it is not checked, with a warning; in validate status 2"},
		{"the check of a value by a schema", "5,000,000 steps, about 1s", "", "what is not known by then is not checked"},
		{"a jq program of a dialect file, for one message", "0.1s, 20,000,000 steps, 256 MiB; 64 MiB in one step", "", "it fails: a client ends with status 8, a server answers -32603"},
		{"a jq program of a tape, for one message", "1s, 20,000,000 steps, 256 MiB; 64 MiB in one step", "", "it is false"},
		{"lines of a child that are no messages", "100", "noise", "status 5"},
		{"different warnings about one peer", "200", "", "no more are shown without -v"},
	}
}
