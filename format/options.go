package format

import (
	"encoding/json"
	"io"
	"strings"

	"rpcx/format/render"
	"rpcx/wire"
	"rpcx/wire/jq"
)

// StringForm determines how a value that is a string is printed.
type StringForm int

// These are the forms of a string.
const (
	AsJSON     StringForm = iota
	AsText                // without quotes and escapes
	FromBase64            // the bytes that it encodes, without a line break; other values are a Fault of kind Expectation
)

// Options control what a Pipeline prints. The zero value prints payloads, one per line.
type Options struct {
	// Events prints whole events, of every kind, instead of the payloads of data events. Raw prints the messages that
	// contain them. Until, the expectations, JQ and Template apply to the printed form.
	Events, Raw bool
	Null        bool // lines end with NUL instead of LF

	Pretty   bool // indent values; not together with Raw
	Color    bool
	Terminal bool // the writer is a terminal, so that control characters are made visible

	JQ       string // "" means none
	Strings  StringForm
	Vars     map[string]json.RawMessage
	Template string // a file or a directory, or ""

	Select string // a jq program over the whole message; "" to print all messages
	Until  string
	Count  int64 // the maximum number of data events to print; 0 for no limit

	Expect      []string // each must be true for every line
	ExpectAny   []string // each must be true for some line
	ExpectNone  []string // none may be true for any line
	ExpectError string   // a code, a dialect's name for a class of errors, any, or ""
	ExpectCount *int64   // how many data events must be printed; nil for any number

	// Debug receives the output of jq's debug and stderr. If it has a method Flush(), Finish calls it. It may be nil.
	Debug io.Writer
	// BeforeWrite is called before each write. If stdout and stderr are both terminals, it must call Console.Clear. It
	// may be nil.
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

// compileJQ compiles a jq expression of the user, which may read the environment, as in jq.
func compileJQ(flag, source string, o Options) (*jq.Program, error) {
	program, err := jq.Compile(source, jq.Options{Vars: o.Vars, Env: true, Stderr: o.Debug})
	return program, named(flag, err)
}

// named returns the failure of an expression with its flag in front.
func named(flag string, err error) error {
	if err == nil { // true for every line, so that the line is not parsed
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
