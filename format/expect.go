package format

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"rpcx/wire"
	"rpcx/wire/jq"
)

// shown bounds, in bytes, how much of a value an unmet expectation quotes.
const shown = 400

// An expectation is one --expect, --expect-any or --expect-none.
type expectation struct {
	flag    string
	source  string
	program *jq.Program
	met     bool // of --expect-any
}

// judge holds what the user demanded of the lines and of the whole.
type judge struct {
	expectations []expectation
	o            Options
	lines        int64
	last         []byte // the last line, cut: what an unmet --expect-any shows
	errorMet     bool
}

func (j *judge) compile(o Options) error {
	j.o = o
	for _, group := range []struct {
		flag    string
		sources []string
	}{{"--expect", o.Expect}, {"--expect-any", o.ExpectAny}, {"--expect-none", o.ExpectNone}} {
		for _, source := range group.sources {
			program, err := compileJQ(group.flag, source, o)
			if err != nil {
				return err
			}
			j.expectations = append(j.expectations, expectation{flag: group.flag, source: source, program: program})
		}
	}
	return nil
}

// line judges one line.
func (j *judge) line(ctx context.Context, line []byte) error {
	j.lines++
	if len(j.expectations) == 0 && j.o.ExpectError == "" {
		return nil
	}
	j.last = append(j.last[:0], line[:min(len(line), shown+1)]...)
	for i := range j.expectations {
		e := &j.expectations[i]
		if e.met {
			continue
		}
		ok, err := e.holds(ctx, line)
		switch {
		case err != nil:
			return named(e.flag, err)
		case e.flag == "--expect-any":
			e.met = ok
		case ok == (e.flag == "--expect-none"):
			return unmet(e.flag, e.source, "the value is "+excerpt(line))
		}
	}
	return nil
}

// anyError is the code with which --expect-error demands an error, whatever it is:
// some have no code.
const anyError = "any"

// holds reports whether line is what e asks for: of --expect-none anything that is
// "yes" counts, else there must be a "yes" and no "no".
func (e *expectation) holds(ctx context.Context, line []byte) (bool, error) {
	if e.flag == "--expect-none" {
		return e.program.Truth(ctx, line)
	}
	return e.program.Holds(ctx, line)
}

// rpcError judges the error that ended a call.
func (j *judge) rpcError(e *wire.Error) error {
	code := strings.Trim(string(e.Code), `"`)
	if j.o.ExpectError == code || j.o.ExpectError == e.Kind || j.o.ExpectError == anyError {
		j.errorMet = true
		return nil
	}
	err := unmet("--expect-error", j.o.ExpectError, "the error is "+excerpt(e.JSON()))
	err.RPC = e
	return err
}

// whole checks the expectations that can only be judged at the end.
func (j *judge) whole(items int64) error {
	for _, e := range j.expectations {
		if e.flag == "--expect-any" && !e.met {
			return unmet(e.flag, e.source, j.lastLine())
		}
		if e.flag == "--expect" && j.lines == 0 && !j.errorMet && !j.wantsNone() {
			f := unmet(e.flag, e.source, "no value came")
			f.Hint = "--expect-count 0 says that none is wanted"
			return f
		}
	}
	if n := j.o.ExpectCount; n != nil && *n != items {
		return unmet("--expect-count", fmt.Sprint(*n), fmt.Sprintf("the count is %d", items))
	}
	if j.o.ExpectError != "" && !j.errorMet {
		return unmet("--expect-error", j.o.ExpectError, j.lastLine())
	}
	return nil
}

// wantsNone reports whether --expect-count 0 is given.
func (j *judge) wantsNone() bool { return j.o.ExpectCount != nil && *j.o.ExpectCount == 0 }

func (j *judge) lastLine() string {
	switch j.lines {
	case 0:
		return "no value came"
	case 1:
		return "the value is " + excerpt(j.last)
	}
	return fmt.Sprintf("the last of %d values is %s", j.lines, excerpt(j.last))
}

func unmet(flag, source, found string) *wire.Fault {
	return wire.NewFault(wire.Expectation, flag+" "+wire.Quote(source)+" is not met: "+found, nil)
}

// excerpt returns a value on one line, cut where it is long.
func excerpt(val []byte) string {
	val = bytes.TrimSpace(val)
	if len(val) <= shown {
		return CleanLine(string(val))
	}
	return CleanLine(string(bytes.ToValidUTF8(val[:shown], nil))) + "…"
}
