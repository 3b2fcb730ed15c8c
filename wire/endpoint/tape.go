package endpoint

import (
	"errors"
	"io/fs"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/tape"
	"rpcx/wire/userfile"
)

// tape parses the part after "tape:". The dialect is that of the tape's header.
func (e *Endpoint) tape(file string) error {
	if file == "" {
		return wire.Usagef("tape: the file name is missing")
	}
	if e.Framing != "" {
		return wire.Usagef("tape: takes no framing; remove %s+", e.Framing)
	}
	its, err := tapeDialect(file)
	if err != nil {
		return err
	}
	if e.Dialect != "" && e.Dialect != its {
		return wire.Usagef("the tape %s uses the %s dialect, not %s", file, its, e.Dialect)
	}
	e.Tape, e.Dialect = file, its
	return nil
}

// tapeDialect returns the dialect in the header of a tape.
func tapeDialect(file string) (string, error) {
	f, err := userfile.Open(file)
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err
		}
		return "", wire.Usagef("cannot read the tape %s: %v", file, err)
	}
	defer func() { _ = f.Close() }()
	r, err := tape.NewReader(f, file)
	if err != nil {
		return "", err
	}
	spec, err := all.FromTape(r.Header().Dialect)
	if err != nil {
		return "", tape.Fault(file, 1, err)
	}
	return spec.Name, nil
}
