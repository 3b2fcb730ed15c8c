package jq

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/itchyny/gojq"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Paths is a jq program that selects parts of its input, such as .params.token or (.. | .card?).
type Paths struct{ p *Program }

// CompilePaths compiles src. Errors are usage Faults. A program that computes values instead of selecting parts is also
// an error.
func CompilePaths(src string) (*Paths, error) {
	if _, err := Compile(src, Options{}); err != nil {
		return nil, err
	}
	p, err := Compile("[path(("+withoutModule(src)+"\n))]", Options{})
	if err != nil {
		return nil, err
	}
	paths := &Paths{p}
	if _, err := paths.Of(context.Background(), json.RawMessage("null")); err != nil && strings.Contains(err.Error(), "invalid path") {
		return nil, wire.NewFault(wire.Usage, "jq: "+src+" computes a value; write a path that selects parts of a message, such as .params.token", err)
	}
	return paths, nil
}

// withoutModule returns src without what is allowed only at the start of a program, such as module {}, so that it can
// become part of another program.
func withoutModule(src string) string {
	query, err := gojq.Parse(src)
	if err != nil || query.Meta == nil {
		return src
	}
	query.Meta = nil
	return query.String()
}

// Of returns JSON pointers to the selected parts of in. Some of the parts may not exist. It returns the same errors as
// Program.Run.
func (p *Paths) Of(ctx context.Context, in json.RawMessage) (pointers []string, err error) {
	err = p.p.Run(ctx, in, func(out json.RawMessage) (bool, error) {
		for path := range scan.Elements(out) {
			pointer, err := pointerOf(path)
			if err != nil {
				return false, err
			}
			pointers = append(pointers, pointer)
		}
		return true, nil
	})
	return pointers, err
}

func pointerOf(path json.RawMessage) (string, error) {
	var b strings.Builder
	for step := range scan.Elements(path) {
		switch scan.Type(step) {
		case 's':
			b.WriteString("/" + scan.Escape(scan.String(step)))
		case 'n':
			b.WriteString("/" + string(step))
		default:
			return "", wire.NewFault(wire.Helper, fmt.Sprintf("jq: a path that contains %s does not select one part", step), nil)
		}
	}
	return b.String(), nil
}
