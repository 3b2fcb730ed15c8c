package format

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"rpcx/wire"
	"rpcx/wire/jq"
)

// shown is the maximum number of bytes of a value that an error quotes.
const shown = 400

// An expectation is one of the user's flags --expect, --expect-any or --expect-none.
type expectation struct {
	flag    string
	source  string
	program *jq.Program
	met     bool // whether a line has met the expectation (only for --expect-any)
}

// expectationChecker checks the user's expectations for each line and for the whole output.
type expectationChecker struct {
	expectations []expectation
	lines        int64
	last         []byte // the start of the last line, for the error of --expect-any
	errorMet     bool
}

func (j *expectationChecker) compile(o *Options) error {
	for _, group := range []struct {
		flag    string
		sources []string
	}{{"--expect", o.Expect}, {"--expect-any", o.ExpectAny}, {"--expect-none", o.ExpectNone}} {
		for _, source := range group.sources {
			program, err := compileJQ(group.flag, source, *o)
			if err != nil {
				return err
			}
			j.expectations = append(j.expectations, expectation{flag: group.flag, source: source, program: program})
		}
	}
	return nil
}

func (j *expectationChecker) line(ctx context.Context, o *Options, line []byte) error {
	j.lines++
	if len(j.expectations) == 0 && o.ExpectError == "" {
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

// anyError is the value of --expect-error that accepts any error, even one without a code.
const anyError = "any"

// holds reports whether the condition of e is true for line. For --expect-none, it reports whether any output of the
// program is true. Otherwise it reports whether the program has outputs and all of them are true.
func (e *expectation) holds(ctx context.Context, line []byte) (bool, error) {
	if e.flag == "--expect-none" {
		return e.program.Truth(ctx, line)
	}
	return e.program.Holds(ctx, line)
}

// rpcError checks the error that ended a call.
func (j *expectationChecker) rpcError(o *Options, e *wire.Error) error {
	code := strings.Trim(string(e.Code), `"`)
	if o.ExpectError == code || o.ExpectError == e.Kind || o.ExpectError == anyError {
		j.errorMet = true
		return nil
	}
	err := unmet("--expect-error", o.ExpectError, "the error is "+excerpt(e.JSON()))
	err.RPC = e
	return err
}

// whole checks the expectations for the whole output.
func (j *expectationChecker) whole(o *Options, items int64) error {
	for _, e := range j.expectations {
		if e.flag == "--expect-any" && !e.met {
			return unmet(e.flag, e.source, j.lastLine())
		}
		if e.flag == "--expect" && j.lines == 0 && (o.ExpectCount == nil || *o.ExpectCount != 0) {
			return unmet(e.flag, e.source, "there was no value").WithHint("--expect-count 0 expects none")
		}
	}
	if n := o.ExpectCount; n != nil && *n != items {
		return unmet("--expect-count", fmt.Sprint(*n), fmt.Sprintf("the count is %d", items))
	}
	if o.ExpectError != "" && !j.errorMet {
		return unmet("--expect-error", o.ExpectError, j.lastLine())
	}
	return nil
}

func (j *expectationChecker) lastLine() string {
	switch j.lines {
	case 0:
		return "there was no value"
	case 1:
		return "the value is " + excerpt(j.last)
	}
	return fmt.Sprintf("the last of %d values is %s", j.lines, excerpt(j.last))
}

func unmet(flag, source, found string) *wire.Fault {
	return wire.NewFault(wire.Expectation, flag+" "+wire.Quote(source)+" is not met: "+found, nil)
}

// excerpt returns a value on one line, shortened if necessary.
func excerpt(val []byte) string {
	return CleanLine(wire.Excerpt(bytes.TrimSpace(val), shown))
}
