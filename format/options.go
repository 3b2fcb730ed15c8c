package format

import (
	"encoding/json"
	"io"
	"strings"

	"rpcx/format/render"
	"rpcx/wire"
	"rpcx/wire/jq"
)

// StringForm determines how a string is printed.
type StringForm int

const (
	AsJSON     StringForm = iota
	AsText                // without quotes and escapes
	FromBase64            // the decoded bytes, without a line break; any other value is a Fault of kind Expectation
)

// Options control the output of a Pipeline. The zero value prints payloads, one per line.
type Options struct {
	// Events prints events of every kind as a whole, instead of the payloads of data events. Raw prints the messages
	// instead. Until, the expectations, JQ and Template apply to what is printed.
	Events, Raw bool
	Null        bool // lines end with NUL instead of LF

	Pretty   bool // values are indented; cannot be combined with Raw
	Color    bool
	Terminal bool // the writer is a terminal, so control characters are made visible

	JQ       string
	Strings  StringForm
	Vars     map[string]json.RawMessage
	Template string // a file or a directory, or ""

	Select string // a jq program that is applied to the whole message; "" selects all messages
	Until  string
	Count  int64 // the maximum number of data events, or 0

	Expect      []string // each must be true for every line
	ExpectAny   []string // each must be true for at least one line
	ExpectNone  []string // each must be true for no line
	ExpectError string   // a code, an error class of the dialect, "any", or ""
	ExpectCount *int64   // the required number of data events; may be nil

	// Debug receives the output of debug and stderr in jq. Finish calls its method Flush(), if it has one. It may be
	// nil.
	Debug io.Writer
	// BeforeWrite is called before each write. If stdout and stderr are terminals, it must call Console.Clear. It may
	// be nil.
	BeforeWrite func()
}

func (p *Pipeline) compile() error {
	for _, e := range []struct {
		flag, source string
		program      **jq.Program
	}{{"--select", p.o.Select, &p.sel}, {"--until", p.o.Until, &p.until}, {"--jq", p.o.JQ, &p.filter}} {
		if e.source == "" {
			continue
		}
		program, err := compileJQ(e.flag, e.source, p.o)
		if err != nil {
			return err
		}
		*e.program = program
	}
	if err := p.checker.compile(&p.o); err != nil {
		return err
	}
	if p.o.Template == "" {
		return nil
	}
	set, err := render.Load(p.o.Template)
	if err != nil {
		return wire.NewFault(wire.Usage, "--template: "+err.Error(), err)
	}
	p.render = set
	return nil
}

// compileJQ compiles a jq expression of the user. It can read the environment, as in jq.
func compileJQ(flag, source string, o Options) (*jq.Program, error) {
	program, err := jq.Compile(source, jq.Options{Vars: o.Vars, Env: true, Stderr: o.Debug})
	return program, named(flag, err)
}

// named adds the flag of an expression to a failure.
func named(flag string, err error) error {
	if err == nil { // err is nil for every line, so no parsing is needed
		return nil
	}
	f := wire.AsFault(err)
	if f == nil {
		return err
	}
	c := *f
	c.Message = flag + ": " + strings.TrimPrefix(f.Error(), "jq: ")
	return &c
}
