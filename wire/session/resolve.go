package session

import (
	"fmt"
	"path/filepath"
	"strings"

	"rpcx/wire/catalog"
	"rpcx/wire/profile"
)

// named is the session that is called name, else the profile.
func named(name, dialect string) (Endpoint, error) {
	path, err := Find(name)
	if err != nil {
		return Endpoint{}, err
	}
	if path != "" {
		return Endpoint{Dialect: dialect, Socket: path, Session: name}, nil
	}
	p, err := profile.Find(name)
	if err != nil {
		return Endpoint{}, err
	}
	if p == nil {
		return Endpoint{}, noName(name)
	}
	return profiled(p, dialect)
}

// profiled is the endpoint of a profile. A dialect that is given goes before
// the profile's own.
func profiled(p *profile.Profile, dialect string) (Endpoint, error) {
	text := p.Endpoint.Values[0]
	if strings.HasPrefix(text, "@") {
		return Endpoint{}, p.Endpoint.Fault(usage("a profile's endpoint is not another name"))
	}
	if s := p.Setting("dialect"); s != nil && dialect == "" {
		dialect = s.Values[0]
		if _, err := specOf(dialect); err != nil {
			return Endpoint{}, s.Fault(err)
		}
	}
	e, err := ParseEndpoint(text, dialect)
	if err != nil {
		return Endpoint{}, p.Endpoint.Fault(err)
	}
	if e.Address.Path != "" && !filepath.IsAbs(e.Address.Path) {
		e.Address.Path = filepath.Join(p.Folder, e.Address.Path)
	}
	e.Profile = p
	return e, nil
}

// noName says that @NAME leads nowhere: why it does no more, or the nearest that
// does.
func noName(name string) error {
	if f := exitFault(name, nil); f != nil {
		return f
	}
	f := absent(fmt.Sprintf("no session or profile is named %q", name), nil)
	names, _ := profile.Names()
	if near := catalog.Nearest(name, append(names, sessionNames()...)); near != "" {
		f.Hint = "did you mean @" + near + "?"
	} else {
		f.Hint = "rpcx connect --list lists the sessions"
	}
	return f
}
