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
	its, path, err := readHeader(file)
	if err != nil {
		return err
	}
	if e.Dialect != "" && e.Dialect != its {
		return wire.Usagef("the tape %s uses the %s dialect, not %s", file, its, e.Dialect)
	}
	e.Tape, e.Dialect, e.Address.URLPath = file, its, path
	return nil
}

// readHeader returns the dialect of a tape, and the path of the URL in its header.
func readHeader(file string) (its, path string, err error) {
	f, err := userfile.Open(file)
	if err != nil {
		return "", "", wire.Usagef("cannot read the tape %s: %v", file, wire.WithoutPath(err))
	}
	defer func() { _ = f.Close() }()
	r, err := tape.NewReader(f, file)
	if err != nil {
		return "", "", err
	}
	spec, err := all.FromTape(r.Header().Dialect)
	if err != nil {
		return "", "", tape.Fault(file, 1, err)
	}
	if u, err := url.Parse(r.Header().Endpoint); err == nil && u.Host != "" {
		path = u.EscapedPath()
	}
	return spec.Name, path, nil
}
