package options

import (
	"io"
	"path/filepath"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/jq"
	"rpcx/wire/tape"
	"rpcx/wire/tape/recorder"
)

// Record contains the flags for recording a conversation.
type Record struct {
	File   string
	redact []string
	failed string
	split  bool
	force  bool
	more   bool
	plain  bool
	Also   io.Writer // a second writer for the lines of the tape, the only one without a tape; may be nil
}

// Values of --on-tape-error.
const (
	tapeContinue = "continue"
	tapeFail     = "fail"
)

// Flags returns the flags of every command that can record its conversation.
func (r *Record) Flags() []*cmdline.Flag {
	return append([]*cmdline.Flag{
		cmdline.Text(cmdline.GroupRecord, "record", "", "record the conversation on a tape in `FILE`, with secrets redacted", &r.File).Filled("a file"),
	}, r.sharedFlags()...)
}

// RecordFlags returns the flags of the command record.
func (r *Record) RecordFlags() []*cmdline.Flag {
	return append([]*cmdline.Flag{
		cmdline.Text(cmdline.GroupRecord, "output", "o", "write the tape to `FILE`", &r.File),
		cmdline.Bool(cmdline.GroupRecord, "split", "", "write one tape per connection: x-1.tape, x-2.tape and so on if FILE is x.tape", &r.split),
	}, r.sharedFlags()...)
}

func (r *Record) sharedFlags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.Bool(cmdline.GroupRecord, "force", "", "replace an existing tape", &r.force),
		cmdline.Bool(cmdline.GroupRecord, "append", "", "append to an existing tape", &r.more),
		cmdline.List(cmdline.GroupRecord, "redact", "", "also redact the values that the jq program `JQ` selects in each message (for example .params.card)", &r.redact),
		cmdline.Bool(cmdline.GroupRecord, "no-redact", "", "do not redact secrets in messages (a note on the tape says so)", &r.plain),
		cmdline.Enum(cmdline.GroupRecord, "on-tape-error", "`fail|continue`: exit with status 8 if the tape cannot be written (fail, the default), or continue without the tape (continue)", &r.failed, []string{tapeFail, tapeContinue}),
	}
}

// Identity returns the file and the redactions, which distinguish recordings.
func (r *Record) Identity() ([]string, error) {
	if r.File == "" {
		return nil, nil
	}
	file, err := filepath.Abs(r.File)
	return append([]string{file}, r.redact...), err
}

// Open opens the tape of a conversation with endpoint, in dialect. many allows several connections. Without --record,
// Open returns nil. The tape closes at the end of the run.
func (r *Record) Open(run *env.Env, endpoint, dialect string, many bool) (*recorder.Recorder, error) {
	if r.File == "" && r.Also == nil {
		return nil, nil
	}
	name := all.OnTape(dialect)
	named := strings.NewReplacer(dialect+"+", name+"+")
	o := recorder.Options{
		File: r.File, Also: r.Also, Split: r.split, Many: many, Warn: run.Console.Warn, Endpoint: named.Replace,
		Header: tape.Header{Endpoint: named.Replace(endpoint), Dialect: name, Program: env.Version()},
		Failed: func(err error) {
			if r.failed == tapeContinue {
				go run.Console.Warn(err.Error() + ": recording has stopped")
				return
			}
			run.Fail(err)
		},
	}
	var err error
	if o.Exists, err = r.existing(); err != nil {
		return nil, err
	}
	if o.Redact, err = Paths("--redact", r.redact); err != nil {
		return nil, err
	}
	if o.Plain = r.plain; o.Plain && len(o.Redact) > 0 {
		return nil, wire.Usagef("--no-redact and --redact cannot be combined")
	}
	rec, err := recorder.Open(o)
	if err != nil {
		if r.failed == tapeContinue && wire.AsFault(err).Kind == wire.Helper {
			run.Console.Warn(err.Error())
			return rec, nil
		}
		return nil, err
	}
	run.AtEnd = append(run.AtEnd, func() error {
		err := rec.Close()
		if r.failed == tapeContinue {
			return nil
		}
		return err
	})
	return rec, nil
}

// existing returns what to do with an existing tape.
func (r *Record) existing() (recorder.Existing, error) {
	switch {
	case r.force && r.more:
		return recorder.Refuse, wire.Usagef("--force and --append cannot be combined")
	case r.more && r.split:
		return recorder.Refuse, wire.Usagef("--append does not apply to --split, which begins a tape for each connection")
	case r.force:
		return recorder.Replace, nil
	case r.more:
		return recorder.Append, nil
	}
	return recorder.Refuse, nil
}

// Paths compiles the values of a flag that selects parts of messages.
func Paths(flag string, sources []string) (all []*jq.Paths, err error) {
	for _, src := range sources {
		p, err := jq.CompilePaths(src)
		if err != nil {
			return nil, wire.AsFault(err).About(flag)
		}
		all = append(all, p)
	}
	return all, nil
}
