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

// ApplyTo is like Apply for the endpoint e of --to, but applies only the keys that help to reach e. Other keys are for
// commands that call e, and flags of the same names may mean something else here.
func ApplyTo(run *env.Env, e endpoint.Endpoint) error {
	return Apply(run, e.Profile, ForPeer(run.Line, e).With(e.Profile), cmdline.GroupConnection)
}

// Apply sets flags to the values in p, the profile of the endpoint or nil, and in [default] of config.toml, that apply in
// s. The command line takes precedence over the profile, and the profile over [default]. The profile's hooks follow the
// hooks on the command line, and profileHeaders adds headers. Because commands share profiles, Apply ignores keys for
// which the command has no flag, and traces keys that do not apply. With groups, it sets only flags of these groups.
func Apply(run *env.Env, p *profile.Profile, s Situation, groups ...string) error {
	if p != nil {
		run.Profile = applicable(run, p, s, groups)
		redact.Sent(p.Secrets()...)
		if err := apply(run, run.Profile, nil); err != nil {
			return err
		}
	}
	if len(s.Listens) > 0 { // [default] is for clients
		return nil
	}
	defaults, err := profile.Defaults()
	if defaults == nil || err != nil {
		return err
	}
	return apply(run, applicable(run, defaults, s, groups), run.Profile)
}

// applicable returns p with the keys of groups (nil: of all) that apply in s. It traces those that do not apply.
func applicable(run *env.Env, p *profile.Profile, s Situation, groups []string) *profile.Profile {
	q := *p
	q.Settings = slices.DeleteFunc(slices.Clone(p.Settings), func(k profile.Setting) bool {
		f := run.Line.Lookup(k.Key)
		if f == nil || groups != nil && !slices.Contains(groups, f.Group) {
			return true
		}
		r := s.refusal(k.Key)
		if r != nil {
			run.Verbose(fmt.Sprintf("%s is ignored: it does not apply to %s; it needs %s", k.Where(), s.String(), r.needs.says()))
		}
		return r != nil
	})
	return &q
}

// apply sets the flags of p, except those on the command line or in over.
func apply(run *env.Env, p, over *profile.Profile) error {
	for _, s := range p.Settings {
		adds := s.Key == "on" || s.Key == "hooks"
		f := run.Line.Lookup(s.Key)
		if s.Key == "header" || run.Line.Has(s.Key) && !adds || over != nil && over.Setting(s.Key) != nil {
			continue
		}
		for _, val := range s.Values {
			if err := f.Set(f.Name, val); err != nil {
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
