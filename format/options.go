package format

import (
	"encoding/json"
	"io"
	"strings"

	"rpcx/format/render"
	"rpcx/wire"
	"rpcx/wire/jq"
)

// StringForm says how a value that is a string is printed.
type StringForm int

// The forms of a string.
const (
	AsJSON     StringForm = iota
	AsText                // without quotes and escapes
	FromBase64            // the bytes that it encodes, with nothing after them; another value is a Fault of kind Expectation
)

// Options say what a Pipeline prints. The zero value prints payloads, one a
// line.
type Options struct {
	// What a line is: the payload of a data event; with Events the whole event,
	// of every kind; with Raw the message that the event came in. Until, the
	// expectations, JQ and Template work on the line, whichever it is.
	Events, Raw bool
	Null        bool // lines end with NUL in place of LF

	Pretty   bool // indented; never with Raw
	Color    bool
	Terminal bool // the writer is a terminal: control characters become visible

	JQ       string // "": none
	Strings  StringForm
	Vars     map[string]json.RawMessage
	Template string // a file or a directory; "": none

	Select string // looks at the whole message; "": all are taken
	Until  string
	Count  int64 // a limit on the data events printed; 0: none

	Expect      []string // each must hold for every line
	ExpectAny   []string // each must hold for some line
	ExpectNone  []string // none may hold for any line
	ExpectError string   // a code, a dialect's word for the class of an error, or any; "": none
	ExpectCount *int64   // how many data events are printed; nil: not demanded

	// Debug gets what jq's debug and stderr print; where it has a method Flush(),
	// Finish calls that. May be nil.
	Debug io.Writer
	// BeforeWrite is called before bytes leave for the writer; Console.Clear
	// belongs here where both are terminals. May be nil.
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
	if err := p.judge.compile(p.o); err != nil {
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

// compileJQ compiles an expression of the user's own: it may read the
// environment, as in jq.
func compileJQ(flag, source string, o Options) (*jq.Program, error) {
	program, err := jq.Compile(source, jq.Options{Vars: o.Vars, Env: true, Stderr: o.Debug})
	return program, named(flag, err)
}

// named puts the flag before a failure of its expression.
func named(flag string, err error) error {
	f := wire.AsFault(err)
	if f == nil {
		return err
	}
	c := *f
	c.Message = flag + ": " + strings.TrimPrefix(f.Error(), "jq: ")
	return &c
}
