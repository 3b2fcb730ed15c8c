package commands

import (
	"net/http"
	"slices"
	"strings"

	"rpcx/wire/profile"
)

// applyProfile sets the flags that a profile has values for. A flag that was given
// wins: it stands in place of the profile's, but for hooks, where it goes before
// them, and for headers, see profileHeaders. What the command has no flag for is
// passed over.
func (a *app) applyProfile(p *profile.Profile) error {
	if a.line.cmd.Name == "serve" {
		return a.line.usage("a profile says how to reach a peer, not what to listen on: @%s", p.Name)
	}
	a.profile = p
	for _, s := range p.Settings {
		adds := s.Key == "on" || s.Key == "hooks"
		if s.Key == "header" || a.line.lookup(s.Key) == nil || a.line.has(s.Key) && !adds {
			continue
		}
		for _, val := range s.Values {
			if err := a.line.cmd.Set(s.Key, val); err != nil {
				return s.Fault(err)
			}
		}
	}
	return nil
}

// profileHeaders adds the profile's headers to those given, which win over those
// of the same name.
func (a *app) profileHeaders(to http.Header) error {
	if a.profile == nil {
		return nil
	}
	s := a.profile.Setting("header")
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

// has says that a flag stands on the line.
func (l *commandLine) has(name string) bool {
	return slices.ContainsFunc(l.flags, func(f string) bool {
		given, _, _ := strings.Cut(strings.TrimPrefix(f, "--"), "=")
		if given == name {
			return true
		}
		known := l.lookup(given)
		return known != nil && slices.Contains(known.Names(), name)
	})
}
