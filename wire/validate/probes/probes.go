// Package probes sends a peer requests that recordings rarely contain: an unknown method, an id that is a string, a
// message that is not JSON. Probes are data, in a TOML file in the directory of their dialect (dialect.Validation):
//
//	page = "JSON-RPC 2.0"          # the document that contains the sections
//	base = "jsonrpc"               # the probes of that dialect also run,
//	except = ["batch"]             # except these
//	discovery = "rpc.discover"     # the method that describes a peer
//
//	[[probe]]
//	name = "unknown-method"
//	level = "must"                 # or "should"
//	section = "5 Response object"
//	sentence = "The response to a failed call must have an error and no result."
//	[[probe.step]]
//	send = '{"jsonrpc":"2.0","id":${id},"method":"rpcx.validate.none"}'
//	await = '.id == $id'
//	holds = '.error | type == "object"'
//
// A probe replaces a probe of the base with the same name.
//
//	probes.go    the tables: Probe, Step, For
//	run.go       running one probe
//	message.go   the messages that are sent, and programs for received ones
//	conn.go      a connection that probes share with its user
package probes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"rpcx/wire/dialect/all"
	"rpcx/wire/jq"
	"rpcx/wire/toml"
	"rpcx/wire/validate"
)

// A Probe is a sequence of messages that are sent to a peer, with the expected responses.
type Probe struct {
	Name     string         `toml:"name"`
	Level    validate.Level `toml:"level"`
	Section  string         `toml:"section"`
	Sentence string         `toml:"sentence"`

	// Own gives the probe its own connection, because the probe may end the connection. Bare gives it a connection
	// without a handshake. All other probes share a connection.
	Own  bool `toml:"own"`
	Bare bool `toml:"bare"`

	Intrusive string `toml:"intrusive"` // a clause that says how the probe may disturb other clients of the peer, or ""
	// For selects what the probe is repeated for: "try" (each method that may be called with any params), "job" (each job that may be
	// started), "discovery" (the method that describes the peer) or "module" (each module of the peer). If For is "", the probe runs once.
	For   string `toml:"for"`
	Steps []Step `toml:"step"`
	Page  string `toml:"-"` // the document that contains Section
}

// A Step sends a message, awaits a message, or does both. In Send, ${NAME} stands for the value of a variable as JSON.
// jq programs use $NAME. The variables id, id2 and id3 are numbers that no other request on the connection has as its
// id.
type Step struct {
	On     int               `toml:"on"`     // 1 for a second connection
	When   string            `toml:"when"`   // jq: the step is skipped unless this yields true; "" means that it always runs
	Send   string            `toml:"send"`   // the message, as a template; "" to send none
	Fill   string            `toml:"fill"`   // jq: the number of x that replace ${fill} (at most 64 Mi), or "" if there is no ${fill}
	Await  string            `toml:"await"`  // jq: the first message for which this yields true is the answer; "" to await none
	Holds  string            `toml:"holds"`  // jq: must yield true for the answer; "" accepts any answer
	Never  string            `toml:"never"`  // jq: must not yield true for any message before the answer
	Needed bool              `toml:"needed"` // without an answer, the probe proves nothing and is skipped
	Ends   bool              `toml:"ends"`   // the peer may end the connection without an answer
	Keep   map[string]string `toml:"keep"`   // variables for later steps: jq programs that run on the answer
}

// A Set contains the probes of a dialect.
type Set struct {
	Page      string   `toml:"page"`
	Base      string   `toml:"base"`
	Except    []string `toml:"except"`
	Discovery string   `toml:"discovery"` // the method that describes a peer; "" for that of the base
	Probes    []Probe  `toml:"probe"`
}

// For returns the probes of a dialect in the order in which they run: those that share a connection come first. It
// returns an empty Set for a dialect without probes.
func For(dialect string) (*Set, error) {
	s, err := load(dialect)
	if err != nil {
		return nil, fmt.Errorf("the probes of %s: %w", dialect, err)
	}
	slices.SortStableFunc(s.Probes, func(a, b Probe) int { return a.rank() - b.rank() })
	return s, nil
}

// Second reports whether the probe opens a second connection.
func (p *Probe) Second() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.On > 0 })
}

func (p *Probe) rank() int {
	switch {
	case p.Bare:
		return 2
	case p.Own:
		return 1
	}
	return 0
}

func load(dialect string) (*Set, error) {
	s := &Set{}
	text := all.Named(dialect).Validation.Probes
	if text == "" {
		return s, nil
	}
	if err := toml.Decode([]byte(text), s); err != nil {
		return nil, err
	}
	skipped := s.Except
	for i := range s.Probes {
		s.Probes[i].Page = s.Page
		skipped = append(skipped, s.Probes[i].Name)
	}
	if s.Base == "" {
		return s, nil
	}
	base, err := load(s.Base)
	if err != nil {
		return nil, err
	}
	s.Discovery = cmp.Or(s.Discovery, base.Discovery)
	s.Probes = append(s.Probes, slices.DeleteFunc(base.Probes, func(p Probe) bool { return slices.Contains(skipped, p.Name) })...)
	return s, nil
}

// compile compiles a program that may use vars. It returns nil for "".
func compile(program string, vars map[string]json.RawMessage) (*jq.Program, error) {
	if program == "" {
		return nil, nil
	}
	return jq.Compile(program, jq.Options{Vars: vars})
}
