package commands

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// A jobVerb is one command of `job`.
type jobVerb struct {
	name, usage, args, description string
	kind                           dialect.OpKind
	example                        Example
}

// jobVerbs are the commands of `job`, by what they take: METHOD with its params,
// a JOB, or nothing.
var jobVerbs = []jobVerb{
	{
		"run", "start a job, wait for it and print its result", argsMethod,
		"Progress goes to stderr, the last result to stdout. A job that fails is status 1.", dialect.JobRun,
		Example{Says: "An upload of the demo", Command: "rpcx job run demo:ro attachment:create filename=report.pdf"},
	},
	{
		"start", "start a job and say which it is", argsMethod,
		"The job goes on when the command has ended: what is printed has its name as \"job\".", dialect.JobStart,
		Example{Says: "A job of a session", Command: "rpcx job start @work attachment:create filename=report.pdf"},
	},
	{
		"status", "say how a job stands", argsJob,
		"", dialect.JobStatus,
		Example{Says: "How a job stands", Command: "rpcx job status @work job-123"},
	},
	{
		"wait", "wait for a job and print its result", argsJob,
		"Progress goes to stderr, the last result to stdout, also when the job is over already. A\njob that failed is status 1.", dialect.JobWait,
		Example{Says: "The result of a job", Command: "rpcx job wait @work job-123"},
	},
	{
		"cancel", "give up a job", argsJob,
		"", dialect.JobCancel,
		Example{Says: "A job that nobody wants", Command: "rpcx job cancel @work job-123"},
	},
	{
		"list", "list the jobs that are known", "ENDPOINT",
		"A HotRepl host lists its journal in their place: what was evaluated and called lately.", dialect.JobList,
		Example{Says: "The jobs of a session", Command: "rpcx job list @work"},
	},
}

const (
	argsMethod = "ENDPOINT METHOD [PARAMS...]"
	argsJob    = "ENDPOINT JOB"
)

func jobCommand(a *app) *Command {
	c := &Command{
		Name:        "job",
		Usage:       "long work, whose result comes later",
		ArgsUsage:   "run|start|status|wait|cancel|list ...",
		Description: jobDescription,
	}
	for _, v := range jobVerbs {
		c.Commands = append(c.Commands, v.command(a))
	}
	return c
}

const jobDescription = `A job is a call whose result comes later than its answer. run does all of it; start leaves
the job to itself, and status, wait and cancel work on it by its name. Where jobs belong
to their connection, as in ro and hotrepl, only run goes without a session (see connect). A HotRepl host has one
client at a time: a command without a session evicts whoever was connected. job list
prints its journal.`

// jobOptions are what one command of `job` was given.
type jobOptions struct {
	clientFlags
	params  paramFlags
	ro      roFlags
	files   saveFlags
	journal journalFlags
	retry   int64
}

func (v jobVerb) command(a *app) *Command {
	o := &jobOptions{}
	flags := o.flags(a, idleNone)
	description := v.description
	if v.args == argsMethod {
		flags = slices.Concat(o.params.flags(), o.ro.flags(), flags)
		flags = append(flags, retryFlag(&o.retry))
		description += "\n\n" + paramsDescription
	}
	switch v.kind {
	case dialect.JobRun, dialect.JobWait, dialect.JobStatus:
		flags = append(o.files.flags(), flags...)
	case dialect.JobList:
		flags = append(o.journal.flags(), flags...)
	}
	return &Command{
		Name: v.name, Usage: v.usage, ArgsUsage: v.args, Description: description,
		Metadata: map[string]any{examplesKey: []Example{v.example}},
		Flags:    flags,
		Action:   func(ctx context.Context, _ *Command) error { return v.run(ctx, a, o) },
	}
}

func (v jobVerb) run(ctx context.Context, a *app, o *jobOptions) error {
	e, rest, err := a.endpoint(ctx, o.conn.dialect)
	if err != nil {
		return err
	}
	if err := v.check(a.line, e, rest); err != nil {
		return err
	}
	print, err := a.printer(e, &o.out, format.Options{})
	if err != nil {
		return err
	}
	cat, err := loadCatalog(o.params.catalog)
	if err != nil {
		return err
	}
	read := func(cat *catalog.Catalog) (dialect.Op, error) { return v.operation(ctx, a, o, e, rest, cat) }
	if v.args == argsMethod && needsConnection(e, cat, rest, o.params) {
		return o.converse(ctx, a, e, cat, print, func(ctx context.Context, conv session.Conversation) (typedOp, error) {
			return prepare(ctx, conv, &e, rest, cat, read)
		})
	}
	op, err := read(cat)
	if err != nil {
		return err
	}
	if o.params.dryRun {
		op.Kind = dialect.Call
		return dryRun(e, op)
	}
	return o.converse(ctx, a, e, cat, print, func(context.Context, session.Conversation) (typedOp, error) {
		return typedOp{op: op, cat: cat}, nil
	})
}

// operation is what is to be done.
func (v jobVerb) operation(ctx context.Context, a *app, o *jobOptions, e session.Endpoint, rest []string, cat *catalog.Catalog) (op dialect.Op, err error) {
	op.Kind = v.kind
	switch {
	case v.args == argsJob:
		op.Job = rest[0]
	case v.args == argsMethod:
		op.Method = rest[0]
		if op.Extra, err = o.ro.extra(a.line, e, o.conn.noCache); err == nil {
			err = fillParams(ctx, a, e, &op, rest[1:], o.params, cat)
		}
	case session.SpecOf(e).LiveEval:
		op.Extra = o.journal.extra()
	}
	return op, err
}

// check refuses what the command does not take, and jobs where there are none.
func (v jobVerb) check(l *commandLine, e session.Endpoint, rest []string) error {
	switch {
	case v.args == argsMethod && (len(rest) == 0 || rest[0] == ""):
		return l.usage("a method is missing")
	case v.args == argsJob && len(rest) != 1:
		return l.usage("job %s takes one JOB", v.name)
	case v.args == "ENDPOINT" && len(rest) > 0:
		return l.usage("job list takes an endpoint alone, not %q too", rest[0])
	}
	switch jobs := session.SpecOf(e).Jobs; {
	case e.Dialect == "":
	case jobs == dialect.NoJobs:
		return l.usage("%s has no jobs: use rpcx call", e.Dialect)
	case v.kind == dialect.JobList && session.SpecOf(e).LiveEval: // what it lists outlives connections
	case jobs == dialect.OwnJobs && v.kind != dialect.JobRun && e.Socket == "":
		f := l.usage("a job belongs to its connection, which this command would end")
		if !hasSecret(nil, l.args[:1]) {
			f.Fix = []string{"rpcx", "connect", l.args[0], "--session", "work"}
		}
		f.Hint = "open a session: rpcx connect " + wire.Quote(l.args[0]) + " --session NAME, then rpcx job " + v.name + " @NAME"
		return f
	}
	return nil
}

// converse does op.
func (o *jobOptions) converse(ctx context.Context, a *app, e session.Endpoint, cat *catalog.Catalog, print *format.Pipeline, ready prepareFunc) error {
	cl := o.time.deadline(ctx, 0)
	return a.converse(ctx, cl, e, &o.clientFlags, cat, func(conv session.Conversation) error {
		return o.exchange(cl, a, e, conv, print, ready)
	})
}

// exchange is what becomes of op on a connection.
func (o *jobOptions) exchange(cl *deadline, a *app, e session.Endpoint, conv session.Conversation, print *format.Pipeline, ready prepareFunc) error {
	p, err := ready(cl.ctx, conv)
	e.Dialect = conv.Dialect()
	switch {
	case err != nil:
		return err
	case o.params.dryRun:
		p.op.Kind = dialect.Call
		return dryRun(e, p.op)
	}
	var last json.RawMessage
	err = a.retry(cl.ctx, o.retry, func() error {
		st, err := conv.Open(cl.ctx, p.op)
		if err != nil {
			return cause(cl.ctx, err)
		}
		c := &consumer{app: a, conv: conv, stream: st, print: print, deadline: cl, method: p.op.Method, keepLast: o.files.dir != ""}
		if p.op.Job != "" {
			c.method = p.op.Job
		}
		if p.op.Kind == dialect.JobRun {
			c.within = "output"
			if err := a.expectResult(c, e, p, o.params); err != nil {
				return err
			}
		}
		err = noCancelHint(session.SpecOf(e), c.run(), "the job")
		last = c.last
		return err
	})
	if f := wire.AsFault(err); f != nil && f.Kind == wire.RPCError {
		suggest(a, f, p.cat)
		return errors.Join(err, print.Flush())
	}
	if err == nil {
		print.Idle()
		err = o.files.save(cl.ctx, a, e, last)
	}
	return errors.Join(err, print.Finish())
}

// waited goes on with a call that was answered by a job: it is waited for.
func (c *consumer) waited(err error) error {
	if err != nil || c.job == "" {
		return err
	}
	st, err := c.conv.Open(c.deadline.ctx, waitFor(c.job))
	if err != nil {
		return cause(c.deadline.ctx, err)
	}
	c.stream = st
	return c.run()
}

// waitFor is the operation that waits for a job which a call has begun.
func waitFor(job string) dialect.Op {
	return dialect.Op{Kind: dialect.JobWait, Job: job, Extra: json.RawMessage(`{"bare":true}`)}
}

// startedJob is the job that an event says was begun by the call that it answers;
// "" for none.
func startedJob(m wire.Message, ev wire.Event) string {
	if ev.Kind != wire.Progress || m.Kind != wire.Response || !m.Final {
		return ""
	}
	job, _ := scan.Text(ev.Job)
	return job
}
