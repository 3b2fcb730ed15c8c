// Package toml reads and writes TOML. Only this package imports a TOML library.
package toml

import (
	"bytes"
	"errors"
	"strings"

	lib "github.com/pelletier/go-toml/v2"
)

// An Error is a mistake in TOML text.
type Error struct {
	Line int // 0 if unknown
	Text string
}

// Error returns the text without the line number.
func (e *Error) Error() string { return e.Text }

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

// UnknownKeys returns the keys in b for which to has no field, with their line numbers. It may miss keys in inline tables,
// and always misses those in arrays of tables.
func UnknownKeys(b []byte, to any) map[string]int {
	lines := map[string]int{}
	if strict, ok := errors.AsType[*lib.StrictMissingError](lib.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields().Decode(to)); ok {
		for _, e := range strict.Errors {
			key := strings.Join(e.Key(), ".")
			if row, _ := e.Position(); lines[key] == 0 {
				lines[key] = row
			}
		}
	}
	return lines
}
