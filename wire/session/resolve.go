package session

import (
	"os"
	"path/filepath"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/profile"
	"rpcx/wire/session/rundir"
)

// ParseEndpoint is like endpoint.Parse, but also resolves names. @NAME is a session or, if there is none, a profile.
// "@" on its own is $RPCX_ENDPOINT. For an unknown name, it returns a Fault of kind Unreachable.
func ParseEndpoint(text, dialect string) (endpoint.Endpoint, error) {
	if text == "@" {
		if text = os.Getenv("RPCX_ENDPOINT"); text == "" {
			return endpoint.Endpoint{}, wire.Usagef("@ stands for $RPCX_ENDPOINT, which is not set")
		}
	}
	name, ok := strings.CutPrefix(text, "@")
	if !ok {
		return endpoint.Parse(text, dialect)
	}
	path, err := rundir.Find(name)
	if err != nil {
		return endpoint.Endpoint{}, err
	}
	if path != "" {
		return endpoint.Endpoint{Dialect: dialect, Socket: path, Session: name}, nil
	}
	p, err := profile.Find(name)
	if err != nil {
		return endpoint.Endpoint{}, err
	}
	if p == nil {
		return endpoint.Endpoint{}, rundir.NotFound(name)
	}
	return profiled(p, dialect)
}

// profiled returns the endpoint of a profile. If dialect is not "", it overrides the profile's dialect.
func profiled(p *profile.Profile, dialect string) (endpoint.Endpoint, error) {
	text := p.Endpoint.Values[0]
	if strings.HasPrefix(text, "@") {
		return endpoint.Endpoint{}, p.Endpoint.Fault(wire.Usagef("a profile's endpoint cannot be a name (@NAME)"))
	}
	if s := p.Setting("dialect"); s != nil && dialect == "" {
		dialect = s.Values[0]
		if _, err := all.Lookup(dialect); err != nil {
			return endpoint.Endpoint{}, s.Fault(err)
		}
	}
	e, err := ParseEndpoint(text, dialect)
	if err != nil {
		return endpoint.Endpoint{}, p.Endpoint.Fault(err)
	}
	if e.Address.Path != "" && !filepath.IsAbs(e.Address.Path) {
		e.Address.Path = filepath.Join(p.Folder, e.Address.Path)
	}
	e.Profile = p
	return e, nil
}
