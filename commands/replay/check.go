package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"time"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/format/report"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/jq"
	"rpcx/wire/session"
	"rpcx/wire/tape/player"
	"rpcx/wire/tape/transcript"
)

// A playback is a tape that rpcx has played to a peer, with the outcome.
type playback struct {
	file  string
	found []*player.Found
	err   error // why rpcx could not play the connection to the end
	took  time.Duration
	done  <-chan struct{}
}

// check plays the client's side of the tapes, several in parallel. It prints the differences in the order of the tapes.
func (o *replayOptions) check(ctx context.Context, run *env.Env, files []string, po player.Options, ignore []*jq.Paths) error {
	if err := o.readable(ctx, files, po, ignore); err != nil {
		return err
	}
	to, err := session.ParseEndpoint(o.to, o.conn.Dialect)
	if err == nil {
		err = options.ForPeer(run.Line, to).With(to.Profile).Check(run.Line)
	}
	if err == nil {
		err = options.ApplyTo(run, to)
	}
	if err != nil {
		return err
	}
	cfg, err := o.conn.Config(ctx, run)
	if err != nil {
		return err
	}
	po.Tap = options.Tap(run)
	so := session.Options{Transport: cfg, Await: o.conn.Await(run)}
	all := make([]*playback, len(files))
	slots := make(chan struct{}, max(o.jobs, 1))
	started := time.Now()
	for i, file := range files {
		p := &playback{file: file}
		all[i] = p
		p.done = wire.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if p.err = context.Cause(ctx); p.err != nil {
				return
			}
			begin := time.Now()
			p.found, p.err = o.playTape(ctx, run, file, po, ignore, so)
			p.took = time.Since(begin)
		})
	}
	for _, p := range all {
		<-p.done
		if err == nil && !o.report.Stdout() {
			err = print(run, p.file, p.found)
		}
	}
	return errors.Join(err, o.summarize(run, all, started))
}

// readable opens each of several tapes to report mistakes before rpcx plays any. It does nothing for a report, in which an unreadable
// tape is a case of its own, and skips stdin and other input that can be read only once.
func (o *replayOptions) readable(ctx context.Context, files []string, po player.Options, ignore []*jq.Paths) error {
	if len(files) < 2 || o.report.Wanted() {
		return nil
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if file == "-" || err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice|fs.ModeSocket) != 0 {
			continue
		}
		t, err := session.OpenTape(file, ignore)
		if err != nil {
			return err
		}
		err = player.CheckClient(t, po)
		t.Close()
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// summarize writes the report and a summary. It returns a failure if a tape differs or was not played.
func (o *replayOptions) summarize(run *env.Env, all []*playback, started time.Time) error {
	suite := report.Suite{Name: "rpcx replay", Started: started}
	var worst error
	failed, differ, count := 0, 0, 0
	for _, p := range all {
		c := report.Case{Name: p.file, Duration: p.took}
		if o.report.Wanted() {
			c.Many = failures(p.found)
		}
		if p.err != nil {
			c.Error = p.err.Error()
			worst = errors.Join(worst, p.err)
		}
		if n := len(p.found); n > 0 {
			differ++
			count += n
		}
		if p.err != nil || len(p.found) > 0 {
			failed++
		}
		suite.Cases = append(suite.Cases, c)
	}
	if err := o.report.Write(os.Stdout, []report.Suite{suite}); err != nil {
		return err
	}
	if len(all) > 1 {
		run.Console.Note(fmt.Sprintf("%d tapes in %s: %d passed, %d failed", len(all), time.Since(started).Round(time.Millisecond), len(all)-failed, failed))
	}
	if differ > 0 && !(o.update && worst == nil) {
		of := all[0].file
		if len(all) > 1 {
			of = fmt.Sprintf("%d of %d tapes", differ, len(all))
		}
		worst = errors.Join(worst, wire.NewFault(wire.Expectation, fmt.Sprintf("the peer's messages differ from %s in %s", of, wire.Count(count, "place")), nil))
	}
	return worst
}

// failures adapts differences for a report.
type failures []*player.Found

// Len implements report.Failures.
func (f failures) Len() int { return len(f) }

// All implements report.Failures.
func (f failures) All() iter.Seq[report.Failure] {
	return func(yield func(report.Failure) bool) {
		for _, d := range f {
			if !yield(report.Failure{Kind: string(d.Kind), Message: d.String()}) {
				return
			}
		}
	}
}

// playTape plays one tape, with a new connection for each recorded one.
func (o *replayOptions) playTape(ctx context.Context, run *env.Env, file string, po player.Options, ignore []*jq.Paths, so session.Options) (found []*player.Found, err error) {
	t, err := session.OpenTape(file, ignore)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if err := player.CheckClient(t, po); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unchecked(t)) }()
	e, err := o.endpoint(o.to, t.Header.Dialect)
	if err != nil {
		return nil, err
	}
	found, results, err := connections(ctx, t, e, po, so)
	if err != nil || !o.update || len(found) == 0 {
		return found, err
	}
	if err := update(t, results, player.Update); err != nil {
		return found, err
	}
	if awaits(o.to) || !player.Varying(t, results) {
		return found, nil
	}
	return found, o.learn(ctx, run, t.Name, ignore, e, po, so)
}

// unchecked returns the failure for a tape without messages or with an incomplete last line.
func unchecked(t *transcript.Transcript) error {
	switch {
	case t.Cut == 0 && slices.ContainsFunc(t.Tracks, func(tr *transcript.Track) bool { return tr.Len() > 0 }):
		return nil
	case t.Cut == 0:
		return wire.NewFault(wire.Expectation, t.Name+": nothing checked: the tape has no messages", nil)
	}
	return wire.NewFault(wire.Expectation, fmt.Sprintf("the tape %s ends inside line %d, which is not compared", t.Name, t.Cut), nil)
}

// learn plays an updated tape again, and binds the values that still differ.
func (o *replayOptions) learn(ctx context.Context, run *env.Env, file string, ignore []*jq.Paths, e endpoint.Endpoint, po player.Options, so session.Options) error {
	t, err := session.OpenTape(file, ignore)
	if err != nil {
		return err
	}
	defer t.Close()
	_, results, err := connections(ctx, t, e, po, so)
	if err != nil {
		run.Console.Note(fmt.Sprintf("updated %s, but could not play it again to find values that differ each time: %v", file, err))
		return nil
	}
	if !player.Varying(t, results) {
		return nil
	}
	return update(t, results, player.BindVarying)
}

// connections plays all connections of a tape. results are the differences of each.
func connections(ctx context.Context, t *transcript.Transcript, e endpoint.Endpoint, po player.Options, so session.Options) (found []*player.Found, results [][]*player.Found, err error) {
	results, err = player.Clients(ctx, t, po, e.Reversed != "", func(ctx context.Context, n int, po player.Options) ([]*player.Found, error) {
		so := so // of this connection
		if len(e.Address.Command) > 0 {
			if po.Noise = player.NewNoise(t, n, so.Transport.Noise); po.Noise != nil {
				so.Transport.Noise = po.Noise.Line
			}
		}
		conn, closeAll, err := session.DialMessages(ctx, e, so)
		if err != nil {
			return nil, err
		}
		defer closeAll()
		return player.Client(ctx, t, n, conn, po)
	})
	return slices.Concat(results...), results, err
}

// update rewrites the tape with the received messages.
func update(t *transcript.Transcript, results [][]*player.Found, write func(io.Writer, *transcript.Transcript, [][]*player.Found) error) error {
	if t.Name == "-" {
		return wire.NewFault(wire.Usage, "--update needs a file, not stdin", nil)
	}
	if err := env.ReplaceFile(t.Name, func(f *os.File) error { return write(f, t, results) }); err != nil {
		return wire.NewFault(wire.IO, "--update: "+err.Error(), err)
	}
	return nil
}
