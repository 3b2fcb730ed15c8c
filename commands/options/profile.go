package options

import (
	"fmt"
	"net/http"
	"slices"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire/endpoint"
	"rpcx/wire/profile"
	"rpcx/wire/redact"
)

// ApplyProfile sets flags to the values in p that apply in s. Flags on the command line take precedence. The profile's
// hooks follow the hooks on the command line, and profileHeaders adds headers. Because commands share profiles,
// ApplyProfile ignores keys for which the command has no flag, and traces keys that do not apply.
func ApplyProfile(run *env.Env, p *profile.Profile, s Situation) error {
	run.Profile = applicable(run, p, s)
	redact.Sent(p.Secrets()...)
	return apply(run, run.Profile, nil)
}

// ApplyDefaults sets flags to the values in [default] of config.toml that apply in s, unless the command line or the
// profile sets them.
func ApplyDefaults(run *env.Env, s Situation) error {
	p, err := profile.Defaults()
	if p == nil || err != nil {
		return err
	}
	return apply(run, applicable(run, p, s), run.Profile)
}

// applicable returns p with the keys that apply in s. It traces the others.
func applicable(run *env.Env, p *profile.Profile, s Situation) *profile.Profile {
	return only(p, func(k profile.Setting) bool {
		if run.Line.Lookup(k.Key) == nil {
			return true // apply ignores the key
		}
		r := s.refusal(k.Key)
		if r != nil {
			run.Verbose(fmt.Sprintf("%s is ignored: it does not apply to %s; it needs %s", k.Where(), s.String(), r.needs.says()))
		}
		return r == nil
	})
}

// only returns p with the wanted keys.
func only(p *profile.Profile, wanted func(profile.Setting) bool) *profile.Profile {
	q := *p
	q.Settings = slices.DeleteFunc(slices.Clone(p.Settings), func(s profile.Setting) bool { return !wanted(s) })
	return &q
}

// ApplyTo applies the keys of [default], and of the profile of e, the peer of --to, that help to reach e. Other keys
// are for commands that call e, and flags of the same names may mean something else here.
func ApplyTo(run *env.Env, e endpoint.Endpoint) error {
	reaches := func(s profile.Setting) bool {
		f := run.Line.Lookup(s.Key)
		return f != nil && cmdline.GroupOf(f) == cmdline.GroupConnection
	}
	s := ForPeer(run.Line, e).With(e.Profile)
	if p := e.Profile; p != nil {
		if err := ApplyProfile(run, only(p, reaches), s); err != nil {
			return err
		}
	}
	p, err := profile.Defaults()
	if p == nil || err != nil {
		return err
	}
	return apply(run, applicable(run, only(p, reaches), s), run.Profile)
}

// apply sets the flags of p, except those on the command line or in over.
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

// profileHeaders adds the profile's headers, except those on the command line.
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
