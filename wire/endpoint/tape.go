package endpoint

import (
	"net/url"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/tape"
	"rpcx/wire/userfile"
)

// tape parses the part of an endpoint after "tape:". The dialect is the one in the tape's header.
func (e *Endpoint) tape(file string) error {
	if file == "" {
		return wire.Usagef("tape: the file name is missing")
	}
	if e.Framing != "" {
		return wire.Usagef("tape: takes no framing; remove %s+", e.Framing)
	}
	f, err := userfile.Open(file)
	if err != nil {
		return wire.Usagef("cannot read the tape %s: %v", file, wire.WithoutPath(err))
	}
	defer func() { _ = f.Close() }()
	r, err := tape.NewReader(f, file)
	if err != nil {
		return err
	}
	spec, err := all.FromTape(r.Header().Dialect)
	switch {
	case err != nil:
		return tape.Fault(file, 1, err)
	case e.Dialect != "" && e.Dialect != spec.Name:
		return wire.Usagef("the tape %s uses the %s dialect, not %s", file, spec.Name, e.Dialect)
	}
	e.Tape, e.Dialect = file, spec.Name
	if u, err := url.Parse(r.Header().Endpoint); err == nil && u.Host != "" {
		e.Address.URLPath = u.EscapedPath()
	}
	return nil
}
