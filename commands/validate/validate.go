// Package validate implements rpcx validate. It checks values against a schema, tapes and live peers against the rules
// of their dialect, and a peer's results and catalog against its own declarations. It compares a catalog with an older
// one.
//
//	validate.go  the command, its flags, and the choice of the check
//	problem.go   the output of problems, on stdout and in reports
//	values.go    --schema
//	versions.go  --against
//	peer.go      connections to a live peer
//	probe.go     probes
//	declared.go  the check of the peer's catalog
//	try.go       calls of methods
//	client.go    --role client, for which rpcx is the server
//	watch.go     the rules, for live messages
//	tapes.go     the rules, for tapes
//	rules.go     --rules, the list of rules
package validate

import (
	"context"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/format/report"
	"rpcx/wire/schema"
)

// validateOptions are the flags of rpcx validate.
type validateOptions struct {
	client  options.Client
	schema  string
	formats bool
	draft   string
	copies  []string
	against string
	allow   string
	report  report.Target

	// These flags are for tapes and live peers.

	rules     bool
	role      string
	try       []string
	trust     bool
	catalog   string
	runtime   string
	disable   []string
	strict    bool
	intrusive bool
}

// Headings of flags in help.
const (
	groupValues   = "Values"
	groupPeer     = "Tapes and live peers"
	groupVersions = "Versions"
)

// Command returns the command validate.
func Command(run *env.Env) *cmdline.Command {
	o := &validateOptions{}
	return &cmdline.Command{
		Name:        "validate",
		Usage:       "check values, tapes, peers and catalogs against rules and schemas",
		Args:        "ENDPOINT | --role client LISTEN [-- COMMAND ARGS...] | TAPE... | --rules [DIALECT...] | --schema FILE [FILE...] | ENDPOINT|CATALOG --against CATALOG|ENDPOINT",
		Description: description,
		Examples: []cmdline.Example{
			{Says: "Check that a server follows the rules of its dialect", Command: "rpcx validate demo:orders"},
			{Says: "Check a tape, and write a report for a CI system", Command: "rpcx validate orders.tape --report junit=report.xml"},
			{Says: "Check a client, with rpcx as its server", Command: "rpcx validate --role client tcp://127.0.0.1:0 --on 'add=jq:add' -- ./client-test"},
			{Says: "Check each line of a file against a schema", Command: "rpcx validate --schema order.schema.json orders.ndjson"},
			{Says: "Check the result of a method against a catalog", Command: "rpcx call demo:orders getOrder id=o_001 | rpcx validate --schema 'api.json#getOrder.result'"},
			{Says: "Store the catalog as a reference, to find later changes", Command: "rpcx describe demo:orders > api.json"},
			{Says: "Check that a server still supports older programs", Command: "rpcx validate demo:orders --against api.json"},
		},
		Flags:  o.flags(run),
		Action: func(ctx context.Context) error { return execute(ctx, run, o) },
	}
}

const description = `With an ENDPOINT, rpcx checks a server against the rules of its dialect. It also sends
probes, such as an unknown method, ids of several types, a batch, and a message that is not
JSON. Without --try and --trust-hints, it calls none of the server's methods.

With --role client, rpcx is the server, whose methods are hooks as in rpcx serve, and checks
the clients that connect to LISTEN. It ends when the first client has disconnected or, with
COMMAND, when COMMAND ends. COMMAND finds the endpoint in RPCX_ENDPOINT.

With a TAPE (- is stdin), rpcx checks each message against the same rules: every MUST, MUST
NOT and SHOULD of the specification that a recording can show. --rules lists them. If a SHOULD
rule is broken, rpcx prints a warning, or fails with --strict.

With --schema, rpcx checks each JSON value in each FILE (- or no FILE: stdin) against a JSON
Schema of draft 4 to 2020-12. A value may span several lines.
FILE#/POINTER uses a part of a document as the schema; FILE#METHOD.params and
FILE#METHOD.result are the schemas of a method in a catalog or an OpenRPC document. A $ref
may lead only to files under the schema's directory.

With --against, rpcx compares a catalog, from a peer or a file, with an older catalog. Each
difference is breaking, compatible or documentation.

Each problem is a line on stdout. If a check fails, the exit status is 4.`

func (o *validateOptions) flags(run *env.Env) []*cmdline.Flag {
	flags := []*cmdline.Flag{
		cmdline.Text(groupValues, "schema", "", "check values against the schema in `FILE[#PART]`", &o.schema),
		cmdline.Bool(groupValues, "formats", "", "also check formats, such as date-time", &o.formats),
		cmdline.Enum(groupValues, "draft", "`"+strings.Join(schema.Drafts, "|")+"`: use this draft for schemas that do not name one (2020-12)", &o.draft, schema.Drafts),
		cmdline.List(groupValues, "schema-map", "", "`URL=PATH`: resolve a $ref to URL with the local file PATH (if PATH is a directory: any URL that begins with URL)", &o.copies),
		cmdline.Text(groupVersions, "against", "", "compare with an older `CATALOG`: a catalog, an OpenRPC document, a tools/list result, or an endpoint", &o.against),
		cmdline.Enum(groupVersions, "allow", "`breaking`: print breaking differences without failing", &o.allow, []string{"breaking"}),
		cmdline.Bool(groupPeer, "rules", "", "list the rules of the named dialects (by default, of all dialects)", &o.rules),
		cmdline.Enum(groupPeer, "role", "`server|client`: check this side of conversations (server); to check clients, rpcx listens on LISTEN", &o.role, []string{"server", "client"}),
		cmdline.Text(groupPeer, "runtime", "", "`jq|co:COMMAND`: evaluate the code that clients send, with jq or with the co-process COMMAND (only with --role client)", &o.runtime),
		cmdline.List(groupPeer, "try", "", "`METHOD[=PARAMS]`: call METHOD, also with bad params, and check its result against the schema", &o.try),
		cmdline.Bool(groupPeer, "trust-hints", "", "also call the methods that the peer declares read-only", &o.trust),
		cmdline.Text(groupPeer, "catalog", "", "use the catalog in `FILE` as the peer's, and call the methods that it declares read-only", &o.catalog),
		cmdline.List(groupPeer, "disable", "", "skip the rule or probe `NAME`", &o.disable),
		cmdline.Bool(groupPeer, "strict", "", "also fail if a rule of level should is broken, or if a value cannot be checked completely", &o.strict),
		cmdline.Bool(groupPeer, "intrusive", "", "also run probes that may disconnect or exhaust other clients", &o.intrusive),
		cmdline.Generic(cmdline.GroupOutput, "report", "`"+report.Usage+"`: write a report for CI systems", &o.report),
	}
	return append(flags, o.client.ConnectingFlags(run, "wait up to `DURATION` for each response from a live peer (5s)")...)
}

func execute(ctx context.Context, run *env.Env, o *validateOptions) error {
	if wrong := o.contradiction(); wrong != "" {
		return run.Line.Usage("%s", wrong)
	}
	r := &outcome{run: run, target: o.report, strict: o.strict, names: map[string][]string{}}
	args := run.Line.Args
	if o.rules || o.schema != "" || o.role != "client" && len(args) > 0 && !isPeer(args[0]) { // no connection is opened
		if err := options.Alone(run.Line).Check(run.Line); err != nil {
			return err
		}
	}
	switch {
	case o.rules:
		return o.list(run, args)
	case o.schema != "":
		return o.values(ctx, r, args)
	case o.against != "":
		return o.versions(ctx, r, args)
	case len(args) == 0:
		return run.Line.Usage("nothing to check was given").
			WithHint("give ENDPOINT or TAPE to check the rules of its dialect, --schema FILE to check values, or ENDPOINT --against FILE to compare catalogs")
	case o.role == "client":
		return o.checkClient(ctx, r)
	case isPeer(args[0]):
		return o.live(ctx, r, args)
	}
	return o.tapes(ctx, r, args)
}

// contradiction returns the reason why the given flags cannot be combined, or "" if they can.
func (o *validateOptions) contradiction() string {
	client := o.role == "client"
	for _, wrong := range []struct {
		is   bool
		text string
	}{
		{o.schema != "" && o.against != "", "--schema (for values) and --against (for catalogs) cannot be combined"},
		{o.schema == "" && (o.formats || o.draft != "" || len(o.copies) > 0), "--formats, --draft and --schema-map need --schema"},
		{o.against == "" && o.allow != "", "--allow needs --against"},
		{o.runtime != "" && !client, "--runtime needs --role client"},
		{client && (o.schema != "" || o.against != "" || o.rules), "--role client checks a live client; it cannot be combined with --schema, --against and --rules"},
		{o.rules && (o.schema != "" || o.against != ""), "--rules only lists the rules; it cannot be combined with --schema and --against"},
	} {
		if wrong.is {
			return wrong.text
		}
	}
	return ""
}
