package options

import (
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/profile"
)

// A Situation determines which flags of a command apply (see table). It contains the command, its endpoints and the
// given flags.
type Situation struct {
	Command string              // the words of the command, such as "job run"
	Dials   []endpoint.Endpoint // peers to call, including those of accept+
	Listens []endpoint.Endpoint // endpoints for clients, including those of dial+
	Unknown bool                // the dialect of the session is unknown
	has     func(flag string) bool
}

// Alone returns the situation of a command that opens no connection.
func Alone(l *cmdline.CommandLine) Situation {
	return Situation{Command: strings.Join(l.Path, " "), has: l.Has}
}

// ForPeer returns the situation of a command that calls one of dials.
func ForPeer(l *cmdline.CommandLine, dials ...endpoint.Endpoint) Situation {
	s := Alone(l)
	s.Dials, s.Unknown = dials, slices.ContainsFunc(dials, func(e endpoint.Endpoint) bool { return e.Dialect == "" })
	return s
}

// ForClients returns the situation of a command that serves clients at one of listens.
func ForClients(l *cmdline.CommandLine, listens ...endpoint.Endpoint) Situation {
	s := Alone(l)
	s.Listens = listens
	return s
}

// Begun returns s for a line to which the user may add flags: each flag counts as given, except --probe.
func (s Situation) Begun() *Situation {
	s.has = func(flag string) bool { return flag != "probe" }
	return &s
}

// With returns s with a profile's keys as given flags.
func (s Situation) With(p *profile.Profile) Situation {
	if p == nil {
		return s
	}
	has := s.has
	s.has = func(flag string) bool { return has(flag) || p.Setting(flag) != nil }
	return s
}

// Has reports whether one of the flags is set.
func (s *Situation) Has(flags ...string) bool {
	return s.has != nil && slices.ContainsFunc(flags, s.has)
}

func (s *Situation) each() []endpoint.Endpoint { return slices.Concat(s.Dials, s.Listens) }

// String names the endpoints for an error message.
func (s *Situation) String() string {
	names := wire.Map(s.each(), func(e endpoint.Endpoint) string { return e.String() })
	if names == nil {
		return "rpcx " + s.Command + " without an endpoint"
	}
	return strings.Join(names, " and ")
}

// Applies reports whether a flag has an effect in s.
func (s *Situation) Applies(flag string) bool { return s.refusal(flag) == nil }

// refusal returns the row of the table that excludes a flag in s, or nil.
func (s *Situation) refusal(flag string) *row {
	return wire.Find(table, func(r *row) bool { return r.concerns(flag, s.Command) && !r.needs.holds(s) })
}

// concerns reports whether r is about a flag of a command.
func (r *row) concerns(flag, command string) bool {
	return slices.Contains(r.flags, flag) && (r.commands == nil || slices.Contains(r.commands, command))
}

// Check returns a usage Fault for the first flag on the command line that has no effect in s. A user who gives
// certificates, for example, must not believe that the connection is encrypted.
func (s Situation) Check(l *cmdline.CommandLine) error {
	for _, given := range l.Flags {
		name, _ := cmdline.SplitFlag(given)
		if r := s.refusal(name); r != nil {
			return s.fault(l, r, name)
		}
	}
	for _, e := range s.Dials {
		if err := unusedResolve(l, e); err != nil {
			return err
		}
	}
	return nil
}

// fault returns the usage Fault for a flag that row r excludes.
func (s *Situation) fault(l *cmdline.CommandLine, r *row, flag string) *wire.Fault {
	of := wire.Find(s.Dials, func(e *endpoint.Endpoint) bool { return e.Session != "" })
	switch {
	case r.needs == newConnection && of != nil:
		there := flag
		if flag == "strict" {
			there = "noise 0"
		}
		return l.Usage("--%s is for opening a connection, but @%s is already connected", flag, of.Session).
			WithHint("use it where you open the session: rpcx connect ENDPOINT --session " + of.Session + " --" + there + " …")
	case r.with != "":
		return l.Usage("--%s needs %s", flag, r.with)
	}
	hint := "it needs " + r.needs.says()
	switch {
	case flag == "set" && len(s.Dials) > 0 && all.Pages().Exists(s.Dials[0].Dialect):
		hint = "its dialect file declares no such values with [set]"
	case r.needs.has != nil && len(dialectsWith(r.needs.has)) > 0:
		hint += " (" + dialectsWith(r.needs.has)[0] + "+ before the endpoint)"
	}
	return l.Usage("--%s does not apply to %s", flag, s.String()).WithHint(hint)
}

// Settable lists the values for --set in s, for help.
func (s *Situation) Settable() string {
	var names []string
	for _, e := range s.Dials {
		for _, d := range Settable(e, slices.Contains(requesters, s.Command)) {
			names = append(names, d.Name+" ("+d.Type+")")
		}
	}
	return strings.Join(names, ", ")
}

// A Condition is a row of the table in help and the manual: the flags apply if Needs is met.
type Condition struct {
	Flags, Commands []string // without commands, all commands with the flags
	Needs           string
}

// Conditions returns the table.
func Conditions() []Condition {
	return wire.Map(table, func(r row) Condition { return Condition{r.flags, r.commands, r.needs.says()} })
}

// Describe adds the requirements of each flag to a command and its subcommands. words name the command.
func Describe(c *cmdline.Command, words ...string) {
	c.Walk(words, func(path []string, c *cmdline.Command) {
		command := strings.Join(path, " ")
		for _, f := range c.Flags {
			for _, r := range table {
				switch {
				case !r.concerns(f.Name, command):
				case r.with == "":
					f.Needs = r.needs.says()
					if r.needs.has != nil {
						f.Dialects = dialectsWith(r.needs.has)
					}
				default:
					f.With = r.with
				}
			}
		}
	})
}
