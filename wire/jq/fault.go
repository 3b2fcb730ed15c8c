package jq

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"rpcx/wire"
)

// parseFault returns the usage Fault for a syntax error, with its offset, token and line.
func parseFault(src string, err error) error {
	var pe *gojq.ParseError
	if !errors.As(err, &pe) {
		return compileFault(src, err)
	}
	offset := max(pe.Offset-len(pe.Token), 0)
	if pe.Token == "" { // the end of the program
		offset = len(src)
	}
	before := src[:min(offset, len(src))]
	start := strings.LastIndexByte(before, '\n') + 1
	line, _, _ := strings.Cut(src[start:], "\n")
	place := fmt.Sprintf("offset %d", offset)
	if n := strings.Count(src, "\n"); n > 0 {
		place += fmt.Sprintf(" (line %d, column %d)", strings.Count(before, "\n")+1, utf8.RuneCountInString(before[start:])+1)
	}
	return wire.NewFault(wire.Usage, fmt.Sprintf("jq: %s at %s of: %s", pe, place, line), err)
}

// compileFault returns the usage Fault for a program that has no syntax error but does not compile, because it uses an
// unknown function or variable.
func compileFault(src string, err error) error {
	line, _, more := strings.Cut(src, "\n")
	if more {
		line += " …"
	}
	return wire.NewFault(wire.Usage, fmt.Sprintf("jq: %s in: %s", err, line), err)
}

func inputFault(err error) error {
	if err == errHuge {
		return wire.NewFault(wire.Helper, "jq: cannot compute with the input: "+err.Error(), err)
	}
	return wire.NewFault(wire.Helper, "jq: the input is not JSON: "+err.Error(), err)
}

// runFault returns the error for a run that ended with err.
func runFault(ctx context.Context, err error) error {
	var halt *gojq.HaltError
	switch {
	case errors.As(err, &halt) && halt.Value() == nil:
		return nil
	case errors.As(err, &halt):
		text, ok := halt.Value().(string)
		if !ok {
			b, _ := gojq.Marshal(halt.Value())
			text = string(b)
		}
		return wire.NewFault(wire.Helper, "jq: "+strings.TrimRight(text, "\n"), err)
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return ctx.Err()
	}
	return wire.NewFault(wire.Helper, "jq: "+err.Error(), err)
}
