package replay

import (
	"cmp"
	"context"
	"os"
	"regexp"
	"strconv"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/format/tapeview"
	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/jq"
	"rpcx/wire/tape"
)

// views reports whether the flags request a view of the tape.
func (o *replayOptions) views() bool { return o.show || o.form != "" || o.redactions }

// checkView returns an error for contradictory flags. Flags that select messages need a view, and only one view is possible.
func (o *replayOptions) checkView(l *cmdline.CommandLine) error {
	filters := o.jq != "" || o.grep != ""
	switch {
	case o.redactions && (o.show || o.form != "" || filters):
		return l.Usage("--redactions cannot be combined with --show, --format, --jq or --grep")
	case o.show && o.form != "":
		return l.Usage("--show and --format %s cannot be combined", o.form)
	case filters && !o.views():
		return l.Usage("--jq and --grep need --show or --format")
	}
	return nil
}

// view shows the tape in file on stdout. "-" is stdin.
func (o *replayOptions) view(ctx context.Context, run *env.Env, file string) error {
	if o.form != "" && run.Stdout.Terminal {
		return run.Line.Usage("--format %s does not write to a terminal", o.form).WithHint("write it to a file: > tape." + o.form)
	}
	vo, err := o.viewOptions(run)
	if err != nil {
		return err
	}
	in, name := os.Stdin, "standard input"
	if file != "-" {
		if in, err = os.Open(file); err != nil {
			return wire.NewFault(wire.Usage, err.Error(), err)
		}
		name = file
		defer func() { _ = in.Close() }()
	}
	r, err := tape.NewReader(in, name)
	if err != nil {
		return err
	}
	if _, err := all.FromTape(r.Header().Dialect); err != nil {
		run.Console.Warn(tape.Fault(name, 1, err).Error() + "; the messages are shown as JSON-RPC")
	}
	switch {
	case o.redactions:
		return redactions(run, r, name)
	case o.form == "html":
		return tapeview.HTML(ctx, &run.Out, r, vo)
	case o.form == "har":
		return tapeview.HAR(ctx, &run.Out, r, env.Version(), vo)
	}
	columns, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || columns < 1 {
		columns = tapeview.DefaultWidth
	}
	return tapeview.Show(ctx, &run.Out, r, tapeview.ShowOptions{Options: vo, Width: cmp.Or(run.Stdout.Width, columns), Color: run.Stdout.Color})
}

// viewOptions compiles the expressions that select messages.
func (o *replayOptions) viewOptions(run *env.Env) (vo tapeview.Options, err error) {
	vo.Own = ownShape
	if o.jq != "" {
		if vo.JQ, err = jq.Compile(o.jq, jq.Options{Env: true}); err != nil {
			return vo, err
		}
	}
	if o.grep != "" {
		if vo.Grep, err = regexp.Compile(o.grep); err != nil {
			return vo, run.Line.Usage("--grep: %s", err)
		}
	}
	return vo, nil
}

// ownShape returns the reader for the messages of a dialect, or nil for JSON-RPC.
func ownShape(dialect string) func(msg []byte) wire.Message {
	s, err := all.ShapeOf(dialect)
	switch {
	case err != nil:
		return nil
	case s.Unnumbered != nil:
		return s.Unnumbered
	case s.Own != nil:
		return s.Own.Read
	}
	return nil
}
