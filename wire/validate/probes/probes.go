// Package probes asks of a peer what nobody sees who only looks on: what it says to
// a method that is not there, to an id that is a string, to a message that is no
// JSON. A probe is data, in a TOML text beside its dialect (dialect.Spec.Probes):
//
//	page = "JSON-RPC 2.0"          # what the sections are sections of
//	base = "jsonrpc"               # the probes of that dialect are made, too
//	except = ["batch"]             # but for these
//	discovery = "rpc.discover"     # the method that describes a peer
//
//	[[probe]]
//	name = "unknown-method"
//	level = "must"                 # or "should"
//	section = "5 Response object"
//	sentence = "A call that fails is answered with an error."
//	[[probe.step]]
//	send = '{"jsonrpc":"2.0","id":${id},"method":"rpcx.validate.none"}'
//	await = '.id == $id'
//	holds = '.error | type == "object"'
//
// A probe with the name of one of the base takes its place.
//
//	probes.go   Probe, Step, For: the tables
//	run.go      one probe is run
//	message.go  what is sent, what programs say of what comes
//	conn.go     a connection that others use, too, and what is sent on it beside them
package probes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"rpcx/wire/dialect/all"
	"rpcx/wire/jq"
	"rpcx/wire/toml"
	"rpcx/wire/validate/rules"
)

// A Probe is one thing that a peer is asked, and what must come of it.
type Probe struct {
	Name     string      `toml:"name"`
	Level    rules.Level `toml:"level"`
	Section  string      `toml:"section"`
	Sentence string      `toml:"sentence"`

	// Own says that it needs a connection of its own, which may end by it, and Bare
	// that nothing is said on that before, not even a greeting. Else the connection is
	// one that several probes share.
	Own  bool `toml:"own"`
	Bare bool `toml:"bare"`

	Intrusive string `toml:"intrusive"` // what it does to others, as a clause; "": nothing
	// For is of what it is made for each: "try", the methods that may be called with any
	// params; "discovery", the method that describes the peer; "module", the modules
	// of the peer. "": it is made once. See Target.
	For   string `toml:"for"`
	Steps []Step `toml:"step"`
	Page  string `toml:"-"` // what Section is a section of
}

// A Step sends a message, or awaits one, or both. In what is sent, ${NAME} stands
// for the value of a variable as JSON; jq programs have it as $NAME. id, id2 and id3
// are numbers that nobody else on the connection uses for an id.
type Step struct {
	On    int               `toml:"on"`    // 1: on a second connection, which is opened beside the first
	When  string            `toml:"when"`  // jq: the step is made only if this is true; "": always
	Send  string            `toml:"send"`  // "": nothing
	Fill  string            `toml:"fill"`  // jq: how many times ${fill} is an x in what is sent, at most 64 Mi; "": there is no such variable
	Await string            `toml:"await"` // jq: the first message that makes it true is the answer; "": none is awaited
	Holds string            `toml:"holds"` // jq: what the answer must make true; "": that it has come is enough
	Never string            `toml:"never"` // jq: what no message may make true before the answer
	Ends  bool              `toml:"ends"`  // the end of the connection is as good as the answer
	Keep  map[string]string `toml:"keep"`  // variables for later steps, by a jq program on the answer
}

// A Set is the probes of a dialect.
type Set struct {
	Page      string   `toml:"page"`
	Base      string   `toml:"base"`
	Except    []string `toml:"except"`
	Discovery string   `toml:"discovery"` // the method that describes a peer; "": that of the base, or none
	Probes    []Probe  `toml:"probe"`
}

// fors are the values of Probe.For, with the variables that there are then.
var fors = map[string][]string{
	"": nil, "try": {"method", "params"}, "discovery": {"method"}, "module": {"module", "nomethod"},
}

// For returns the probes of a dialect, in the order in which they are made: first
// those that share a connection. A dialect may have none.
func For(dialect string) (*Set, error) {
	s, err := load(dialect)
	if err != nil {
		return nil, fmt.Errorf("the probes of %s: %w", dialect, err)
	}
	slices.SortStableFunc(s.Probes, func(a, b Probe) int { return a.rank() - b.rank() })
	return s, nil
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
	text := all.Named(dialect).Probes
	if text == "" {
		return s, nil
	}
	if err := toml.Decode([]byte(text), s); err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for i := range s.Probes {
		p := &s.Probes[i]
		p.Page = s.Page
		own[p.Name] = true
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if s.Base == "" {
		return s, nil
	}
	base, err := load(s.Base)
	if err != nil {
		return nil, err
	}
	s.Discovery = cmp.Or(s.Discovery, base.Discovery)
	s.Probes = append(s.Probes, slices.DeleteFunc(base.Probes, func(p Probe) bool { return own[p.Name] || slices.Contains(s.Except, p.Name) })...)
	return s, nil
}

// check refuses a probe that cannot work.
func (p *Probe) check() error {
	names, known := fors[p.For]
	switch {
	case p.Name == "" || p.Section == "" || p.Sentence == "":
		return fmt.Errorf("it has no name, no section or no sentence")
	case p.Level != rules.Must && p.Level != rules.Should:
		return fmt.Errorf(`its level is %q, neither "must" nor "should"`, p.Level)
	case !known:
		return fmt.Errorf("it is for each %q, which there is not", p.For)
	}
	vars := map[string]json.RawMessage{}
	for _, name := range append([]string{"id", "id2", "id3"}, names...) {
		vars[name] = json.RawMessage("1")
	}
	for _, s := range p.Steps {
		for _, program := range []string{s.When, s.Fill, s.Await, s.Holds, s.Never} {
			if _, err := compile(program, vars); err != nil {
				return err
			}
		}
		for name, program := range s.Keep {
			if _, err := compile(program, vars); err != nil {
				return err
			}
			vars[name] = json.RawMessage("null")
		}
	}
	return nil
}

// compile makes a program with the variables that there are; nil of none.
func compile(program string, vars map[string]json.RawMessage) (*jq.Program, error) {
	if program == "" {
		return nil, nil
	}
	return jq.Compile(program, jq.Options{Vars: vars})
}
