package options

import (
	"net/http"

	"rpcx/commands/env"
	"rpcx/wire/profile"
)

// ApplyProfile sets the flags that p has values for. A flag on the command line
// wins; only hooks of both count, those of the command line first, and headers,
// see profileHeaders. What the command has no flag for is passed over.
func ApplyProfile(a *env.Env, p *profile.Profile) error {
	if a.Line.Cmd.Name == "serve" {
		return a.Line.Usage("a profile says how to reach a peer, not what to listen on: @%s", p.Name)
	}
	a.Profile = p
	return apply(a, p, nil)
}

// ApplyDefaults sets the flags that [default] of config.toml has values for, where neither the command line nor the profile
// sets them.
func ApplyDefaults(a *env.Env) error {
	p, err := profile.Defaults()
	if p == nil || err != nil {
		return err
	}
	return apply(a, p, a.Profile)
}

// apply sets the flags of p that are not set yet, on the command line or by over.
func apply(a *env.Env, p, over *profile.Profile) error {
	for _, s := range p.Settings {
		adds := s.Key == "on" || s.Key == "hooks"
		if s.Key == "header" || a.Line.Lookup(s.Key) == nil || a.Line.Has(s.Key) && !adds || over != nil && over.Setting(s.Key) != nil {
			continue
		}
		for _, val := range s.Values {
			if err := a.Line.Cmd.Set(s.Key, val); err != nil {
				return s.Fault(err)
			}
		}
	}
	return nil
}

// profileHeaders adds the profile's headers to those given, which win over those
// of the same name.
func profileHeaders(a *env.Env, to http.Header) error {
	if a.Profile == nil {
		return nil
	}
	s := a.Profile.Setting("header")
	if s == nil {
		return nil
	}
	more, err := readHeaders(s.Values)
	if err != nil {
		return s.Fault(err)
	}
	for name, vals := range more {
		if _, given := to[name]; !given {
			to[name] = vals
		}
	}
	return nil
}
