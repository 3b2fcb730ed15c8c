package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/server"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/jq"
	"rpcx/wire/scan"
	"rpcx/wire/session"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/player"
)

// serve plays the server's side of a tape.
func (o *replayOptions) serve(ctx context.Context, run *env.Env, file string, po player.Options, ignore []*jq.Paths, command []string) error {
	t, err := session.OpenTape(file, ignore)
	if err != nil {
		return err
	}
	defer t.Close()
	if text := session.CutShort(file, t); text != "" {
		run.Console.Warn(text)
	}
	po.Found = func(d match.Difference) { run.Console.Warn("the tape " + file + ": " + d.String()) }
	po.Tap = options.Tap(run)
	p, err := player.NewServer(t, po)
	if err != nil {
		return err
	}
	e, err := o.endpoint(o.listen, t.Header.Dialect)
	if err != nil {
		return err
	}
	if err := options.ForClients(run.Line, e).Check(run.Line); err != nil {
		return err
	}
	cfg, err := o.conn.Config(ctx, run)
	if err != nil {
		return err
	}
	s, err := session.ListenTape(ctx, e, session.Options{Transport: cfg}, p)
	if err != nil {
		return err
	}
	if err := server.Serve(ctx, s, command, o.conn.Listen.File); err != nil {
		return err
	}
	if n, _ := p.Differences(); n > 0 {
		return wire.NewFault(wire.Expectation, fmt.Sprintf("the conversation differs from the tape %s in %s", file, wire.Count(n, "place")), nil)
	}
	return nil
}

// printed is the form of a difference on stdout.
type printed struct {
	Tape    string               `json:"tape"`
	Line    int                  `json:"line,omitempty"`
	Kind    match.DifferenceKind `json:"kind"`
	Method  string               `json:"method,omitempty"`
	Pointer *string              `json:"pointer,omitempty"`
	Want    json.RawMessage      `json:"want,omitempty"`
	Got     json.RawMessage      `json:"got,omitempty"`
	Text    string               `json:"text,omitempty"`
	More    int                  `json:"more,omitempty"` // the number of omitted differences of this kind and place
}

// maxExtras bounds the printed lines about consecutive messages that are not on the tape. A peer can send any number.
const maxExtras = 100

// print writes a line for each difference: JSON, or text on a terminal. Of more than maxExtras consecutive extra messages, it prints
// the first, and the number of the others.
func print(run *env.Env, tape string, all []*player.Found) error {
	for len(all) > 0 {
		n := 1 // the number of extra messages at one place, or 1 for another difference
		for n < len(all) && all[0].Kind == match.Extra && all[n].Kind == match.Extra && all[n].Line == all[0].Line {
			n++
		}
		for _, f := range all[:min(n, maxExtras)] {
			p := printed{Tape: tape, Line: f.Line, Kind: f.Kind, Method: f.Method, Want: f.Shown(f.Want), Got: f.Shown(f.Got), Text: f.Text}
			if f.Kind == match.Differs && f.Placed() {
				p.Pointer = &f.Pointer
			}
			if err := printOne(run, p, tape+": "+f.String()); err != nil {
				return err
			}
		}
		if more := n - maxExtras; more > 0 {
			p := printed{Tape: tape, Line: all[0].Line, Kind: match.Extra, More: more}
			if err := printOne(run, p, fmt.Sprintf("%s: more messages that are not on the tape: %d", tape, more)); err != nil {
				return err
			}
		}
		all = all[n:]
	}
	return nil
}

func printOne(run *env.Env, p any, words string) error {
	if words = format.CleanLine(words); !run.Stdout.Terminal {
		words = string(scan.JSON(p))
	}
	return cmdline.Print(os.Stdout, words+"\n")
}

// compare compares two tapes.
func (o *replayOptions) compare(run *env.Env, file string, po player.Options, ignore []*jq.Paths) error {
	one, err := session.OpenTape(file, ignore)
	if err != nil {
		return err
	}
	defer one.Close()
	two, err := session.OpenTape(o.diff, ignore)
	if err != nil {
		return err
	}
	defer two.Close()
	all, err := player.Diff(one, two, po)
	if err != nil {
		return err
	}
	whole := errors.Join(unchecked(one), unchecked(two))
	if err := print(run, file, all); err != nil || len(all) == 0 {
		return errors.Join(err, whole)
	}
	return errors.Join(whole, wire.NewFault(wire.Expectation, fmt.Sprintf("%s and %s differ in %s", file, o.diff, wire.Count(len(all), "place")), nil))
}
