package commands

import (
	"github.com/urfave/cli/v3"

	"rpcx/wire/dialect"
)

// Groups of flags that commands share. Each is a struct that the library fills
// and a method that makes the flags anew.

const (
	groupCommon     = "Common"
	groupConnection = "Connection"
	groupGreeting   = "Greeting the peer"
	groupTime       = "Time"
	groupOutput     = "Output"
	groupExpect     = "Expectations"
	groupHooks      = "Answering the peer"
	groupParams     = "Parameters"
	groupListen     = "Listening"
	groupKept       = "What is kept"
	groupRO         = "RO-JRPC"
	groupSession    = "Sessions"
	groupInbox      = "The inbox of a session"
)

// Command and Flag are the library's, which nothing else imports.
type (
	Command = cli.Command
	Flag    = cli.Flag
)

// groupOf returns the heading under which help lists f.
func groupOf(f Flag) string {
	if c, ok := f.(cli.CategorizableFlag); ok {
		return c.GetCategory()
	}
	return ""
}

// loneValue returns the value of a flag that may be given without one; false
// where f has no such value.
func loneValue(f Flag) (string, bool) {
	g, ok := f.(*cli.GenericFlag)
	if !ok {
		return "", false
	}
	v, ok := g.Value.(interface{ LoneValue() string })
	if !ok {
		return "", false
	}
	return v.LoneValue(), true
}

func boolean(group, name, short, usage string, to *bool) Flag {
	f := &cli.BoolFlag{Name: name, Usage: usage, Category: group, Destination: to}
	if short != "" {
		f.Aliases = []string{short}
	}
	return f
}

func text(group, name, short, usage string, to *string) Flag {
	f := &cli.StringFlag{Name: name, Usage: usage, Category: group, Destination: to}
	if short != "" {
		f.Aliases = []string{short}
	}
	return f
}

func list(group, name, short, usage string, to *[]string) Flag {
	f := &cli.StringSliceFlag{Name: name, Usage: usage, Category: group, Destination: to}
	if short != "" {
		f.Aliases = []string{short}
	}
	return f
}

func generic(group, name, usage string, to cli.Value) Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Category: group, Value: to}
}

func number(group, name, usage string, least int64, to *int64) Flag {
	return generic(group, name, usage, boundedInt{to, least})
}

// positive makes a flag for a duration that cannot be nothing.
func positive(group, name, usage string, to *duration) Flag {
	return generic(group, name, usage, positiveDuration{to})
}

// newEnum makes a flag whose value is one of words.
func newEnum(group, name, usage string, to *string, words []string) Flag {
	return generic(group, name, usage, enum{to, words})
}

// newOptionalEnum makes a flag whose value is one of words, the first where none
// is given.
func newOptionalEnum(group, name, usage string, to *string, words []string) Flag {
	return generic(group, name, usage, optionalEnum{enum{to, words}})
}

// commonFlags are every command's.
type commonFlags struct {
	verbose bool
	errors  string // this and color are read before the line is parsed, see detect; here they are checked
	color   string
}

// errorForms are the values of --errors and RPCX_ERRORS.
var errorForms = []string{"text", "json"}

func (c *commonFlags) flags() []Flag {
	return []Flag{
		boolean(groupCommon, "verbose", "v", "trace messages on stderr, with direction and time, redacted", &c.verbose),
		newEnum(groupCommon, "errors", "`text|json`: failures on stderr as one line of text (the default) or one JSON object", &c.errors, errorForms),
		newEnum(groupCommon, "color", "`auto|always|never`: colour on terminals alone (the default), everywhere or nowhere", &c.color, []string{"auto", "always", "never"}),
	}
}

// connFlags say how to reach a peer.
type connFlags struct {
	dialect      string
	headers      []string
	subprotocols []string
	cacert       string
	cert         string
	key          string
	insecure     bool
	connect      duration
	ping         duration
	maxMessage   size
	token        string
	tokened      bool // the token command is where our authority comes from
	noise        int64
	refresh      bool
	noCache      bool
}

func (c *connFlags) flags() []Flag {
	c.noise = -1
	return append(c.sharedFlags(),
		number(groupConnection, "noise", "skip at most `N` lines of a child that are no messages (100)", 0, &c.noise),
		list(groupConnection, "header", "H", "send the header `LINE` (\"Name: value\"; @FILE holds one a line)", &c.headers),
		boolean(groupConnection, "insecure", "k", "do not verify the far side's certificate", &c.insecure),
		positive(groupConnection, "connect-timeout", "give up connecting after `DURATION` (10s)", &c.connect),
		boolean(groupKept, "refresh", "", "ask the peer anew what it offers, and keep that (introspect)", &c.refresh),
		boolean(groupKept, "no-cache", "", "ask for a fresh answer, and take none of ours; neither use nor keep what the peer says it offers (ro, introspect)", &c.noCache),
		text(groupConnection, "token-command", "", "send the first line that `COMMAND` prints as bearer token", &c.token),
	)
}

// sharedFlags are those that a listener has too.
func (c *connFlags) sharedFlags() []Flag {
	return []Flag{
		text(groupConnection, "dialect", "", "speak `DIALECT`: jsonrpc (2.0), jsonrpc1, scomp, introspect, ro, scriptling, hotrepl", &c.dialect),
		list(groupConnection, "subprotocol", "", "offer the WebSocket subprotocol `NAME`", &c.subprotocols),
		text(groupConnection, "cacert", "", "trust the roots in `FILE` (PEM); a listener demands a client certificate of them", &c.cacert),
		text(groupConnection, "cert", "", "our certificate chain in `FILE` (PEM)", &c.cert),
		text(groupConnection, "key", "", "our private key in `FILE` (PEM)", &c.key),
		generic(groupConnection, "ping", "ws, tcp, tls: send a keep-alive ping (over TCP a probe) every `DURATION`; a peer that does not answer is gone", &c.ping),
		generic(groupConnection, "max-message", "refuse messages over `SIZE` (64M)", &c.maxMessage),
	}
}

// timeFlags bound a call.
type timeFlags struct {
	timeout duration
	idle    duration
}

// The bounds of --idle, as its help says them: that of a call, and for those
// that have none.
const (
	idleCall   = "give up when nothing comes for `DURATION`; 0 bounds nothing (60s)"
	idleStream = "stop, as --for does, when nothing comes for `DURATION` (unbounded)"
	idleNone   = "give up when nothing comes for `DURATION` (unbounded)"
)

func (t *timeFlags) flags(idle string) []Flag {
	return []Flag{
		generic(groupTime, "timeout", "give up after `DURATION`, whatever comes", &t.timeout),
		generic(groupTime, "idle", idle, &t.idle),
	}
}

// outFlags say what is printed.
type outFlags struct {
	jq          string
	rawStrings  bool
	args        []string
	jsonArgs    []string
	template    string
	output      string
	events      bool
	raw         bool
	null        bool
	pretty      bool
	compact     bool
	expect      []string
	expectAny   []string
	expectNone  []string
	expectError string
	expectCount int64
}

func (o *outFlags) flags() []Flag {
	o.expectCount = -1
	return []Flag{
		text(groupOutput, "jq", "q", "print what the jq program `EXPR` makes of each value", &o.jq),
		boolean(groupOutput, "raw-output", "r", "print strings without quotes", &o.rawStrings),
		list(groupOutput, "arg", "", "`NAME VALUE`: $NAME is the text VALUE in every jq program", &o.args),
		list(groupOutput, "argjson", "", "`NAME VALUE`: $NAME is the JSON VALUE in every jq program", &o.jsonArgs),
		text(groupOutput, "template", "", "render each value with the Go template in `FILE` (a directory holds one for each content type)", &o.template),
		text(groupOutput, "output", "o", "write the data to `FILE` in place of stdout", &o.output),
		boolean(groupOutput, "events", "", "print whole events, progress and log lines included", &o.events),
		boolean(groupOutput, "raw", "", "print the messages that came, unchanged", &o.raw),
		boolean(groupOutput, "null", "0", "end each value with NUL in place of a line feed", &o.null),
		boolean(groupOutput, "pretty", "", "indent, as on a terminal", &o.pretty),
		boolean(groupOutput, "compact", "c", "one line a value, as in a pipe", &o.compact),
		list(groupExpect, "expect", "", "demand that the jq program `EXPR` holds for each value (else status 4)", &o.expect),
		list(groupExpect, "expect-any", "", "demand that `EXPR` holds for some value", &o.expectAny),
		list(groupExpect, "expect-none", "", "demand that `EXPR` holds for no value", &o.expectNone),
		text(groupExpect, "expect-error", "", "demand an error with this `CODE`", &o.expectError),
		number(groupExpect, "expect-count", "demand exactly `N` values", 0, &o.expectCount),
	}
}

// hookFlags say what answers the peer.
type hookFlags struct {
	on      []string
	files   []string
	timeout duration
	jobs    int64
	strict  bool

	functions map[string]bool // those that are function values (key@on=NAME); set by the command
}

func (h *hookFlags) flags() []Flag {
	return []Flag{
		list(groupHooks, "on", "", "`NAME=ANSWER`: answer the peer's calls of NAME with a command, jq:EXPR, json:VALUE and more (see HOOKS)", &h.on),
		list(groupHooks, "hooks", "", "`DIR|FILE`: answer with the executables of a directory, or the run members of a catalog", &h.files),
		positive(groupHooks, "hook-timeout", "end a hook after `DURATION` (60s)", &h.timeout),
		number(groupHooks, "hook-jobs", "run at most `N` hooks at once (16)", 1, &h.jobs),
		boolean(groupHooks, "strict-hooks", "", "status 8 when any hook fails here, not only one that the answer depends on", &h.strict),
	}
}

// graceFlag bounds the wait for the end of a stream in which an error came.
func graceFlag(to *duration) Flag {
	return positive("", "grace", "after an error in a stream, wait `DURATION` for its end (1s)", to)
}

// paramFlags say how parameters are read.
type paramFlags struct {
	catalog string
	noCheck bool
	dryRun  bool
	style   string
}

func (p *paramFlags) flags() []Flag {
	return []Flag{
		text(groupParams, "catalog", "", "type and check parameters by the catalog in `FILE`", &p.catalog),
		boolean(groupParams, "no-check", "", "send parameters that the catalog refuses, as strings", &p.noCheck),
		boolean(groupParams, "dry-run", "", "print the bytes that would be sent, and send nothing", &p.dryRun),
		newEnum(groupParams, "params-style", "`wrapped|object|positional`: send params as the one element of an array (the usual), as an object, or as values alone (introspect)", &p.style, []string{"wrapped", "object", "positional"}),
	}
}

// clientFlags are those of every command that connects.
type clientFlags struct {
	conn      connFlags
	handshake handshakeFlags
	reconnect reconnectFlags // of those that last
	first     *dialect.Op    // what the conversation will be asked for first; nil: unknown
	time      timeFlags
	out       outFlags
	hooks     hookFlags
}

func (c *clientFlags) flags(a *app, idle string) []Flag {
	var all []Flag
	for _, group := range [][]Flag{
		c.out.flags(), c.conn.flags(), c.handshake.flags(), c.time.flags(idle), c.hooks.flags(), a.common.flags(),
	} {
		all = append(all, group...)
	}
	return all
}
