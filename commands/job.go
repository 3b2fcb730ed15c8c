package commands

import (
	"context"
	"slices"

	"rpcx/commands/artifacts"
	"rpcx/commands/cmdline"
	"rpcx/commands/dialects"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/session/rundir"
)

// A jobVerb is a subcommand of rpcx job.
type jobVerb struct {
	name, usage, args, description string
	kind                           dialect.OpKind
	examples                       []cmdline.Example
}

// jobVerbs are the subcommands of rpcx job. Their arguments are METHOD with its params, a JOB, or nothing.
var jobVerbs = []jobVerb{
	{
		"run", "start a job, wait for it and print its result", argsMethod,
		"Progress goes to stderr (see rpcx help output), and the last result goes to stdout. If the job fails, the exit status is 1.", dialect.JobRun,
		[]cmdline.Example{{Says: "Save the files in a job's result", Command: "rpcx job run demo:hotrepl archive.export --save files --artifact-root /tmp"}},
	},
	{
		"start", "start a job and print its name", argsMethod,
		"The job continues after the command ends. rpcx prints an object with the job's name in \"job\".", dialect.JobStart,
		[]cmdline.Example{{Says: "Start a job in a session", Command: "rpcx connect demo:hotrepl --session work\nrpcx job start @work archive.export"}, {Says: "Print only the name, for a script", Command: `rpcx job start @work archive.export -r -q .job`}},
	},
	{
		"status", "print the state of a job", argsJob,
		"", dialect.JobStatus,
		[]cmdline.Example{{Says: "Print the state of a job in the session work", Command: `rpcx job status @work "$job"`}, {Says: "Print only the state", Command: `rpcx job status @work "$job" -r -q .status`}},
	},
	{
		"wait", "wait for a job and print its result", argsJob,
		"Progress goes to stderr (see rpcx help output), and the last result goes to stdout, even if the job has already ended.\nIf the job fails, the exit status is 1.", dialect.JobWait,
		[]cmdline.Example{{Says: "Wait for the result of a job", Command: `rpcx job wait @work "$job"`}, {Says: "Print one member of the result", Command: `rpcx job wait @work "$job" -r -q .itemsExported`}},
	},
	{
		"cancel", "cancel a job", argsJob,
		"", dialect.JobCancel,
		[]cmdline.Example{{Says: "Cancel a job in the session host", Command: `rpcx job cancel @host "$job"`}, {Says: "Start a job in a session and cancel it", Command: "rpcx connect demo:hotrepl --session host\nrpcx job cancel @host \"$(rpcx job start @host archive.export -r -q .job)\""}},
	},
	{
		"list", "list jobs", "ENDPOINT",
		"A HotRepl host lists its journal instead: the latest evaluations and calls.", dialect.JobList,
		[]cmdline.Example{{Says: "Print the latest three entries of a host's journal", Command: `rpcx job list demo:hotrepl --limit 3`}, {Says: "Print only the evaluations in a journal", Command: `rpcx job list demo:hotrepl --kind eval`}},
	},
}

const (
	argsMethod = "ENDPOINT METHOD [PARAMS...]"
	argsJob    = "ENDPOINT JOB"
)

func jobCommand(run *env.Env) *cmdline.Command {
	return &cmdline.Command{
		Name:        "job",
		Usage:       "run long work and wait for its result",
		Args:        "run|start|status|wait|cancel|list ...",
		Description: jobDescription,
		Commands:    wire.Map(jobVerbs, func(v jobVerb) *cmdline.Command { return v.command(run) }),
	}
}

const jobDescription = `A job is a call whose result arrives later than its response. run starts a job and waits for
its result. start only starts a job, and prints its name for status, wait and cancel. In ro,
hotrepl and mcp, jobs belong to their connection, so start, status, wait and cancel need a
session (see connect). A HotRepl host accepts one client at a time: without a session, a
command evicts the client that was connected. On such a host, job list prints the journal.`

// jobOptions are the flags of all subcommands of rpcx job. Each subcommand has a subset.
type jobOptions struct {
	options.Client
	params  options.Params
	files   artifacts.Flags
	journal dialects.Journal
	retry   request.Retries
}

func (v jobVerb) command(run *env.Env) *cmdline.Command {
	o := &jobOptions{}
	o.Handshake.Set.Requests = v.args == argsMethod
	idle := options.IdleJob
	if v.kind == dialect.JobWait {
		idle = options.IdleNone
	}
	flags := o.Flags(run, idle)
	description := v.description
	if v.args == argsMethod {
		flags = slices.Concat(o.params.Flags(), flags)
		flags = append(flags, o.retry.Flags()...)
		description += "\n\n" + paramsDescription
	}
	switch v.kind {
	case dialect.JobRun, dialect.JobWait, dialect.JobStatus:
		flags = append(o.files.Flags(), flags...)
	case dialect.JobList:
		flags = append(o.journal.Flags(), flags...)
	}
	return &cmdline.Command{
		Name: v.name, Usage: v.usage, Args: v.args, Description: description,
		Examples: append(slices.Clone(v.examples), dialects.Examples("job "+v.name)...),
		Flags:    flags,
		Action:   func(ctx context.Context) error { return v.run(ctx, run, o) },
	}
}

func (v jobVerb) run(ctx context.Context, run *env.Env, o *jobOptions) error {
	e, rest, err := request.Endpoint(ctx, run, o.Conn.Dialect)
	if err != nil {
		return err
	}
	if err := v.check(run.Line, e, rest); err != nil {
		return err
	}
	if err := o.files.Check(run, e); err != nil {
		return err
	}
	r, err := request.New(run, &o.Client, e, o.params)
	if err != nil {
		return err
	}
	spec := e.Spec()
	embedded := spec.Files.AreEmbedded()
	r.Op.Kind, r.Idle, r.First, r.Retries, r.Files = v.kind, o.Time.Idle.Or(0), options.DefaultIdle, o.retry, &o.files
	r.Read = request.ReadOptions{KeepRaw: embedded, KeepLast: !embedded, What: "the job"}
	if v.kind == dialect.JobWait { // the peer accepts or rejects a job at once, but the result may take any time
		r.First = 0
	}
	switch {
	case v.args == argsMethod:
		r.Args = rest
	case v.args == argsJob:
		r.Op.Job, r.Read.Method = rest[0], rest[0]
	case spec.Jobs != nil && spec.Jobs.Journal:
		r.Op.Extra = o.journal.Extra()
	}
	if v.kind == dialect.JobRun { // the method's schema is known
		r.Read.CheckResult = !o.params.NoCheck
		if spec.Jobs == nil || !spec.Jobs.Bare {
			r.Read.Within = "output"
		}
	}
	return r.Do(ctx)
}

// check returns an error for invalid arguments and for a dialect without jobs.
func (v jobVerb) check(l *cmdline.CommandLine, e endpoint.Endpoint, rest []string) error {
	switch {
	case v.args == argsMethod && (len(rest) == 0 || rest[0] == ""):
		return l.Usage("the method is missing")
	case v.args == argsJob && len(rest) != 1:
		return l.Usage("job %s takes one JOB", v.name)
	case v.args == "ENDPOINT" && len(rest) > 0:
		return l.Usage("job list takes only ENDPOINT, not %q", rest[0])
	}
	switch jobs := e.Spec().Jobs; {
	case jobs == nil:
		return l.Usage("%s has no jobs", e.Dialect).WithHint("use rpcx call")
	case jobs.Lasting || v.kind == dialect.JobList && jobs.Journal: // such jobs and journals outlive connections
	case v.kind != dialect.JobRun && e.Socket == "":
		return l.Usage("a job ends with its connection").
			WithFix("open a session: rpcx connect "+wire.Quote(l.Args[0])+" --session NAME, then rpcx job "+v.name+" @NAME",
				l.ForCommand("connect", l.Args[:1], "--session="+rundir.FreeName()))
	}
	return nil
}
