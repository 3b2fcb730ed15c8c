// Package toml reads and writes TOML. Only this package imports a TOML library.
package toml

import (
	"bytes"
	"errors"
	"strings"

	lib "github.com/pelletier/go-toml/v2"

	"rpcx/wire"
)

// An Error is a mistake in TOML text.
type Error struct {
	Line int // 0 if unknown
	Text string
}

// Error returns the text without the line number.
func (e *Error) Error() string { return e.Text }

// Fault returns an error of Decode or Read as a usage Fault that names the file and, if known, the line.
func Fault(file string, err error) *wire.Fault {
	if at, ok := errors.AsType[*Error](err); ok && at.Line > 0 {
		return wire.Usagef("%s:%d: %s", file, at.Line, at.Text)
	}
	return wire.Usagef("%s: %v", file, err)
}

// Decode decodes b into to. A key for which to has no field is an error. Errors are of type *Error.
func Decode(b []byte, to any) error {
	err := lib.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields().Decode(to)
	if strict, ok := errors.AsType[*lib.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		first := strict.Errors[0]
		row, _ := first.Position()
		return &Error{row, strings.Join(first.Key(), ".") + ": unknown key"}
	}
	return read(err)
}

// Read is like Decode, but ignores keys for which to has no field.
func Read(b []byte, to any) error { return read(lib.Unmarshal(b, to)) }

// Encode returns v as TOML.
func Encode(v any) ([]byte, error) { return lib.Marshal(v) }

// read converts an error of the library to an *Error.
func read(err error) error {
	if err == nil {
		return nil
	}
	e := &Error{Text: strings.TrimPrefix(err.Error(), "toml: ")}
	if at, ok := errors.AsType[*lib.DecodeError](err); ok {
		e.Line, _ = at.Position()
	}
	return e
}
