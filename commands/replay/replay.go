// Package replay implements rpcx replay, which plays a tape as server or client, compares two tapes, or shows one.
package replay

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/format/report"
	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/jq"
	"rpcx/wire/scan"
	"rpcx/wire/session"
	"rpcx/wire/tape/player"
)

// replayOptions are the flags of rpcx replay.
type replayOptions struct {
	conn   options.Connection
	listen string
	to     string
	diff   string
	strict bool
	speed  string
	ignore []string
	fill   []string
	idle   cmdline.Duration
	update bool
	report report.Target
	jobs   int64

	// These flags show a tape instead of playing it.

	show       bool
	form       string
	jq         string
	grep       string
	redactions bool
}

const (
	groupPlay    = "Playing a tape"
	groupCompare = "Comparing"
	groupView    = "Showing a tape"
)

// Command returns the command replay.
func Command(run *env.Env) *cmdline.Command {
	o := &replayOptions{}
	return &cmdline.Command{
		Name:        "replay",
		Usage:       "play a tape as server or client, compare it, or show it",
		Args:        "TAPE... --listen LISTEN [-- COMMAND ARGS...] | --to ENDPOINT | --diff TAPE | --show | --format html|har",
		Description: description,
		Examples: []cmdline.Example{
			{Says: "Play the server, as recorded, for clients", Command: "rpcx replay orders.tape --listen ws://127.0.0.1:8080/"},
			{Says: "Call the recorded server without a listener", Command: "rpcx call tape:orders.tape getOrder id=o_001"},
			{Says: "Check that a server still answers as recorded", Command: "rpcx replay orders.tape --to exec:./server"},
			{Says: "Run each tape as a test in CI", Command: "rpcx replay tests/*.tape --to exec:./server --report junit=report.xml"},
			{Says: "Compare two tapes", Command: "rpcx replay old.tape --diff new.tape"},
			{Says: "Show the conversation", Command: "rpcx replay orders.tape --show"},
			{Says: "Write the conversation as an HTML page", Command: "rpcx replay orders.tape --format html > orders.html"},
		},
		Flags:  o.flags(run),
		Action: func(ctx context.Context) error { return execute(ctx, run, o) },
	}
}

const description = `With --listen, rpcx plays the server. A request gets the recorded response to the request
with the same method and params. If several requests on the tape are equal, rpcx uses them
in turn, and then repeats the last one. A request that is not on the tape gets an error that
names the most similar request; the exit status is then 4. COMMAND runs with RPCX_ENDPOINT
set. When COMMAND ends, rpcx ends too, with the status of COMMAND if that is not 0.

With --to, rpcx plays the client. It sends the client's requests, answers the peer's calls
as recorded, and compares the peer's messages with the tape. Each difference is a line on
stdout, with the line of the tape and a JSON pointer. If there is a difference, the exit
status is 4. Ids, tokens, times and durations are not compared. Each tape gets a new
connection.

With --show, rpcx prints the conversation: the client's messages on the left, the server's
on the right, nested calls indented, and streams folded. --format html prints a web page that
needs no other files; --format har prints a file for the network panel of a browser.

TAPE may be - for stdin. rpcx-tape(5) describes the format.`

func (o *replayOptions) flags(run *env.Env) []*cmdline.Flag {
	flags := []*cmdline.Flag{
		cmdline.Text(groupPlay, "listen", "", "play the server for clients that connect to `LISTEN`", &o.listen),
		cmdline.Text(groupPlay, "to", "", "play the client against `ENDPOINT`, and compare the peer's messages with the tape", &o.to),
		cmdline.Text(groupCompare, "diff", "", "compare both sides of the conversation with `TAPE`, without a peer", &o.diff),
		cmdline.Bool(groupPlay, "strict", "", "accept only the next request on the tape (with --listen)", &o.strict),
		cmdline.Text(groupPlay, "speed", "", "play at `N` times the recorded pace (by default, as fast as possible)", &o.speed),
		cmdline.List(groupPlay, "fill", "", "`NAME=TEXT`: use TEXT, or with NAME:=JSON a JSON value, for redacted members called NAME, and for $NAME in programs", &o.fill),
		cmdline.List(groupCompare, "ignore", "", "do not compare the values that the jq program `JQ` selects in each message (for example .result.hash)", &o.ignore),
		cmdline.PositiveDuration(groupCompare, "idle", "wait up to `DURATION` for each message on the tape (10s)", &o.idle),
		cmdline.Bool(groupCompare, "update", "", "update the tapes with the peer's messages", &o.update),
		cmdline.Generic(groupCompare, "report", "`tap|junit|json[=FILE]`: write a report for CI systems, with a test for each tape", &o.report),
		cmdline.Number(groupCompare, "jobs", "play up to `N` tapes at once (1)", 1, &o.jobs),
		cmdline.Bool(groupView, "show", "", "print the conversation in two columns, with nested calls indented", &o.show),
		cmdline.Enum(groupView, "format", "`html|har`: print the conversation as one web page (html), or for a browser's network panel (har)", &o.form, []string{"html", "har"}),
		cmdline.Bool(groupView, "redactions", "", "list the redacted secrets: the line, the JSON pointer, and a number that equal secrets share", &o.redactions),
		cmdline.Text(groupView, "jq", "q", "show the messages for which the jq program `EXPR` is true, and their responses", &o.jq),
		cmdline.Text(groupView, "grep", "", "show the messages that match the regular expression `REGEX`, and their responses", &o.grep),
	}
	return slices.Concat(flags, o.conn.Flags(), run.Common.Flags())
}

func execute(ctx context.Context, run *env.Env, o *replayOptions) error {
	if err := o.checkView(run.Line); err != nil {
		return err
	}
	tapes, command, err := o.tapes(run.Line)
	if err != nil {
		return err
	}
	if o.conn.Dialect != "" { // perhaps a file; the tape contains only the dialect's name
		_, err = all.Lookup(o.conn.Dialect)
	}
	if o.listen != "" && err == nil {
		_, err = session.ParseEndpoint(o.listen, o.conn.Dialect)
	}
	if err != nil {
		return err
	}
	if o.views() {
		return o.view(ctx, run, tapes[0])
	}
	po, ignore, err := o.player()
	if err != nil {
		return err
	}
	switch {
	case o.listen != "":
		return o.serve(ctx, run, tapes[0], po, ignore, command)
	case o.diff != "":
		return o.compare(run, tapes[0], po, ignore)
	}
	return o.check(ctx, run, tapes, po, ignore)
}

// words returns the tapes and the command after "--".
func (o *replayOptions) words(l *cmdline.CommandLine) (tapes, command []string, err error) {
	if awaits(o.to) {
		l.TakeTrailing()
	} else if o.listen == "" && o.to == "" {
		if err := options.Alone(l).Check(l); err != nil {
			return nil, nil, err
		}
	}
	if d := l.Dash; d >= 0 {
		return l.Args[:d], l.Args[d:], nil
	}
	return l.Args, nil, nil
}

// tapes returns the tapes and the command after "--", or an error if words contradict the flags.
func (o *replayOptions) tapes(l *cmdline.CommandLine) (tapes, command []string, err error) {
	if tapes, command, err = o.words(l); err != nil {
		return nil, nil, err
	}
	ways := 0
	for _, given := range []bool{o.listen != "", o.to != "", o.diff != "", o.views()} {
		if given {
			ways++
		}
	}
	for _, mistake := range []struct {
		made       bool
		text, hint string
	}{
		{len(tapes) == 0, "a tape is missing", "record one with rpcx record, or with --record FILE in any call"},
		{ways != 1, "give one of --listen, --to, --diff, --show and --format", "--to ENDPOINT plays the client, --listen LISTEN the server, --show prints the tape"},
		{o.to == "" && len(tapes) > 1, "only --to takes several tapes", ""},
		{o.to == "" && (o.update || o.report.Wanted() || o.jobs > 0 || o.idle > 0), "--update, --report, --jobs and --idle need --to", ""},
		{o.listen == "" && o.strict, "--strict needs --listen", ""},
		{o.listen == "" && command != nil, "-- COMMAND needs --listen", ""},
		{l.Dash >= 0 && len(command) == 0, "a command is missing after --", ""},
	} {
		if mistake.made {
			return nil, nil, l.Usage("%s", mistake.text).WithHint(mistake.hint)
		}
	}
	return tapes, command, nil
}

// awaits reports whether the peer at an endpoint connects to rpcx.
func awaits(to string) bool {
	e, err := session.ParseEndpoint(to, "")
	return err == nil && e.Reversed == endpoint.Accept
}

// player returns the options for playing the tape, and the rules for comparing messages.
func (o *replayOptions) player() (player.Options, []*jq.Paths, error) {
	po := player.Options{Strict: o.strict, Set: map[string]json.RawMessage{}, AnswerTimeout: time.Duration(o.idle)}
	if o.speed != "" {
		speed, err := strconv.ParseFloat(o.speed, 64)
		if err != nil || speed <= 0 {
			return po, nil, wire.NewFault(wire.Usage, "--speed: "+o.speed+" is not a number above 0, such as 1 or 0.5", nil)
		}
		po.Speed = speed
	}
	for _, s := range o.fill {
		name, val, err := setting(s)
		if err != nil {
			return po, nil, err
		}
		po.Set[name] = val
	}
	ignore, err := options.Paths("--ignore", o.ignore)
	return po, ignore, err
}

// setting parses NAME=TEXT or NAME:=JSON.
func setting(s string) (name string, val json.RawMessage, err error) {
	name, text, ok := strings.Cut(s, "=")
	if !ok || name == "" || name == ":" {
		return "", nil, wire.NewFault(wire.Usage, "--fill: "+s+" is not NAME=VALUE", nil)
	}
	bare, isJSON := strings.CutSuffix(name, ":")
	if !isJSON {
		return name, scan.AppendQuoted(nil, text), nil
	}
	if err := scan.Valid([]byte(text), wire.DefaultMaxDepth); err != nil {
		return "", nil, wire.NewFault(wire.Usage, "--fill: the value of "+bare+" is not valid JSON: "+err.Error(), err)
	}
	return bare, scan.Trim([]byte(text)), nil
}

// endpoint parses the endpoint for the tape. The tape supplies a missing dialect.
func (o *replayOptions) endpoint(text, header string) (endpoint.Endpoint, error) {
	given := o.conn.Dialect
	e, err := session.ParseEndpoint(text, given)
	if err != nil || header == "" {
		return e, err
	}
	spec, err := all.FromTape(header)
	if err != nil || e.Dialect == spec.Name {
		return e, err
	}
	if given == "" {
		if again, err := session.ParseEndpoint(text, header); err == nil {
			return again, nil
		}
	}
	return e, wire.NewFault(wire.Usage, "the tape uses the "+header+" dialect, but "+text+" uses "+e.Dialect, nil)
}
