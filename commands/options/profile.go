package options

import (
	"net/http"
	"slices"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire/endpoint"
	"rpcx/wire/profile"
)

// ApplyProfile sets the flags that p has values for. Flags on the command line
// win, except hooks, of which both apply, those of the command line first, and
// headers (see profileHeaders). Keys for which the command has no flag are
// ignored.
func ApplyProfile(run *env.Env, p *profile.Profile) error {
	run.Profile = p
	run.Console.Hide(p.Secrets())
	return apply(run, p, nil)
}

// ApplyDefaults sets the flags that [default] of config.toml has values for,
// unless the command line or the profile sets them. Keys that have no meaning
// for e are ignored.
func ApplyDefaults(run *env.Env, e endpoint.Endpoint) error {
	return applyDefaults(run, func(s profile.Setting) bool { return applies(s.Key, e) })
}

// applyDefaults sets the flags of those keys of [default] that are wanted.
func applyDefaults(run *env.Env, wanted func(profile.Setting) bool) error {
	p, err := profile.Defaults()
	if p == nil || err != nil {
		return err
	}
	return apply(run, only(p, wanted), run.Profile)
}

// only returns p with those of its keys that are wanted.
func only(p *profile.Profile, wanted func(profile.Setting) bool) *profile.Profile {
	q := *p
	q.Settings = slices.DeleteFunc(slices.Clone(p.Settings), func(s profile.Setting) bool { return !wanted(s) })
	return &q
}

// ApplyTo applies the profile of e, the peer that --to names, and [default], so far as they say how e is reached. What
// else they say is for commands that speak to e themselves, and the flags of the same names may mean something else here.
func ApplyTo(run *env.Env, e endpoint.Endpoint) error {
	reaches := func(s profile.Setting) bool {
		f := run.Line.Lookup(s.Key)
		return f != nil && cmdline.GroupOf(f) == cmdline.GroupConnection
	}
	if p := e.Profile; p != nil {
		run.Profile = p
		run.Console.Hide(p.Secrets())
		if err := apply(run, only(p, reaches), nil); err != nil {
			return err
		}
	}
	return applyDefaults(run, func(s profile.Setting) bool { return reaches(s) && applies(s.Key, e) })
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
