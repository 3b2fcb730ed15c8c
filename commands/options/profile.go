package options

import (
	"net/http"
	"slices"

	"rpcx/commands/env"
	"rpcx/wire/endpoint"
	"rpcx/wire/profile"
)

// ApplyProfile sets the flags that p has values for. Flags on the command line
// win, except hooks, of which both apply, those of the command line first, and
// headers (see profileHeaders). Keys for which the command has no flag are
// ignored.
func ApplyProfile(run *env.Env, p *profile.Profile) error {
	if run.Line.Cmd.Name == "serve" {
		return run.Line.Usage("a profile says how to reach a peer, not what to listen on: @%s", p.Name)
	}
	run.Profile = p
	run.Console.Hide(p.Secrets())
	return apply(run, p, nil)
}

// ApplyDefaults sets the flags that [default] of config.toml has values for,
// unless the command line or the profile sets them. Keys that have no meaning
// for e are ignored.
func ApplyDefaults(run *env.Env, e endpoint.Endpoint) error {
	p, err := profile.Defaults()
	if p == nil || err != nil {
		return err
	}
	p.Settings = slices.DeleteFunc(p.Settings, func(s profile.Setting) bool { return !applies(s.Key, e) })
	return apply(run, p, run.Profile)
}

// apply sets the flags of p that neither the command line nor over sets.
func apply(run *env.Env, p, over *profile.Profile) error {
	for _, s := range p.Settings {
		adds := s.Key == "on" || s.Key == "hooks"
		if s.Key == "header" || run.Line.Lookup(s.Key) == nil || run.Line.Has(s.Key) && !adds || over != nil && over.Setting(s.Key) != nil {
			continue
		}
		for _, val := range s.Values {
			if err := run.Line.Cmd.Set(s.Key, val); err != nil {
				return s.Fault(err)
			}
		}
	}
	return nil
}

// profileHeaders adds the profile's headers, except those that the command line
// sets.
func profileHeaders(run *env.Env, to http.Header) error {
	if run.Profile == nil {
		return nil
	}
	s := run.Profile.Setting("header")
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
