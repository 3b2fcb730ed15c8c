package format

import (
	"encoding/json"
	"io"
	"strings"

	"rpcx/format/render"
	"rpcx/wire"
	"rpcx/wire/jq"
)

// StringForm is how to print a string.
type StringForm int

// These are the forms of a string.
const (
	AsJSON     StringForm = iota
	AsText                // without quotes and escapes
	FromBase64            // the encoded bytes, without a line break; other values are a Fault of kind Expectation
)

// Options control the output of a Pipeline. The zero value prints payloads, one per line.
type Options struct {
	// Events prints whole events of every kind in place of the payloads of data events. Raw prints their messages.
	// Until, the expectations, JQ and Template apply to the printed form.
	Events, Raw bool
	Null        bool // lines end with NUL, not LF

	Pretty   bool // indent values; excludes Raw
	Color    bool
	Terminal bool // the writer is a terminal; control characters become visible

	JQ       string
	Strings  StringForm
	Vars     map[string]json.RawMessage
	Template string // a file or a directory, or ""

	Select string // a jq program on the whole message; "" prints all messages
	Until  string
	Count  int64 // the maximum number of data events, or 0

	Expect      []string // each must be true for every line
	ExpectAny   []string // each must be true for some line
	ExpectNone  []string // each must be true for no line
	ExpectError string   // a code, a dialect's class of errors, any, or ""
	ExpectCount *int64   // the required number of data events; may be nil

	// Debug receives the output of jq's debug and stderr. Finish calls its method Flush(), if any. It may be nil.
	Debug io.Writer
	// BeforeWrite runs before each write. If stdout and stderr are terminals, it must call Console.Clear. It may be
	// nil.
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
	if err := p.judge.compile(&p.o); err != nil {
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

// compileJQ compiles a user's jq expression, which may read the environment, as in jq.
func compileJQ(flag, source string, o Options) (*jq.Program, error) {
	program, err := jq.Compile(source, jq.Options{Vars: o.Vars, Env: true, Stderr: o.Debug})
	return program, named(flag, err)
}

// named returns the failure of an expression after its flag.
func named(flag string, err error) error {
	if err == nil { // true for every line, which needs no parsing
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
