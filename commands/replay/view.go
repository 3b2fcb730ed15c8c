package replay

import (
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

const groupView = "Showing a tape"

// A View contains the flags for showing a tape instead of playing it.
type View struct {
	show bool
	form string
	jq   string
	grep string

	redactions bool
}

var viewForms = []string{"html", "har"}

// Flags returns the flags of the views.
func (v *View) Flags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.Bool(groupView, "show", "", "print the conversation in two columns, with nested calls indented", &v.show),
		cmdline.Enum(groupView, "format", "`html|har`: print the conversation as one web page (html), or for a browser's network panel (har)", &v.form, viewForms),
		cmdline.Bool(groupView, "redactions", "", "list the redacted secrets: the line, the JSON pointer, and a number that equal secrets share", &v.redactions),
		cmdline.Text(groupView, "jq", "q", "show the messages for which the jq program `EXPR` is true, and their responses", &v.jq),
		cmdline.Text(groupView, "grep", "", "show the messages that match the regular expression `REGEX`, and their responses", &v.grep),
	}
}

// wanted reports whether the flags request a view.
func (v *View) wanted() bool { return v.show || v.form != "" || v.redactions }

// check returns an error for contradictory flags. Flags that select messages need a view, and only one view is possible.
func (v *View) check(l *cmdline.CommandLine) error {
	filters := v.jq != "" || v.grep != ""
	switch {
	case v.redactions && (v.show || v.form != "" || filters):
		return l.Usage("--redactions cannot be combined with --show, --format, --jq or --grep")
	case v.show && v.form != "":
		return l.Usage("--show and --format %s cannot be combined", v.form)
	case filters && !v.wanted():
		return l.Usage("--jq and --grep need --show or --format")
	}
	return nil
}

// Write shows the tape in file on stdout. "-" is stdin.
func (v *View) Write(ctx context.Context, run *env.Env, file string) error {
	if v.form != "" && run.Stdout.Terminal {
		return run.Line.Usage("--format %s does not write to a terminal", v.form).WithHint("write it to a file: > tape." + v.form)
	}
	o, err := v.options(run)
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
	case v.redactions:
		return redactions(run, r, name)
	case v.form == "html":
		return tapeview.HTML(ctx, &run.Out, r, o)
	case v.form == "har":
		return tapeview.HAR(ctx, &run.Out, r, env.Version(), o)
	}
	return tapeview.Show(ctx, &run.Out, r, tapeview.ShowOptions{Options: o, Width: width(run), Color: run.Stdout.Color})
}

// options compiles the expressions that select messages.
func (v *View) options(run *env.Env) (o tapeview.Options, err error) {
	o.Own = ownShape
	if v.jq != "" {
		if o.JQ, err = jq.Compile(v.jq, jq.Options{Env: true}); err != nil {
			return o, err
		}
	}
	if v.grep != "" {
		if o.Grep, err = regexp.Compile(v.grep); err != nil {
			return o, run.Line.Usage("--grep: %s", err)
		}
	}
	return o, nil
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

// width returns the width of the terminal, or COLUMNS.
func width(run *env.Env) int {
	if run.Stdout.Width > 0 {
		return run.Stdout.Width
	}
	n, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || n < 1 {
		return tapeview.DefaultWidth
	}
	return n
}
