// Package rules checks conversations against the rules of their dialect. It reads the lines on a tape, or the messages
// of a live conversation, one by one, and returns the violations in each.
//
// A rule is data: a name, a level, a section of the specification, a sentence, and a jq program that finds violations.
// The rules of a dialect are in a TOML file in the dialect's directory (dialect.Validation):
//
//	page = "JSON-RPC 2.0"          # the document that contains the sections
//	base = "jsonrpc"               # the rules of that dialect also apply,
//	except = ["id-fraction"]       # except these
//	defs = '''def …: …;'''         # functions for all programs below
//
//	about = '''{…, sort: […]}'''   # data for several programs, see below
//
//	[[keep]]                       # facts for programs on later messages
//	kind = ["response"]
//	jq = '''["stream/\(.msg.result)", {open: .n}]'''
//
//	[[rule]]
//	name = "id-type"
//	level = "must"                 # or "should"
//	section = "4 Request object"
//	sentence = "An id must be a string, a number or null."
//	kind = ["request"]             # the messages to which the program applies, see When
//	jq = '''select(.id | type | IN("string", "number", "null") | not) | "/id"'''
//
// A rule replaces a rule of the base with the same name.
//
// A program's input is one message in the form that view.go describes. The program of a rule yields nothing if the
// message is correct. For a violation, it yields the JSON pointer of the problem, or an object:
//
//	at     the JSON pointer, or the path as an array (default: the whole message)
//	want   the expected value (default: the rule's sentence)
//	got    the actual value (default: the value at the place)
//	n      the line of the problem (default: the line of the message)
//	from   the side that broke the rule (default: the sender of the message)
//
// The program of a [[keep]] yields pairs [key, value]. kept(key) then returns the value in all programs for later
// messages of the connection. If the key begins with "tape/", the value is stored for the whole tape. A null value
// removes the key. kept(key) is null if the key is unknown. unknown(key) is true only if the key was certainly never
// stored: it is false if the oldest of 10,000 keys was removed, or if a line of the tape described a message without
// containing it. Rules about messages without a request use unknown.
//
// shape(SPEC; AT) yields the problems of the members of a value, and unanswered(SLOW) the requests without a response
// (see common).
//
// The program about runs first, on each request, notification and response. It yields an object, which the other
// programs read as .about. The member sort of that object is an array of words. If a rule or keep has a member sort, it
// runs only for messages whose own sort contains one of its words, which saves time.
//
// If jq cannot check a condition, check names a function that examines the program's output (see checks.go).
//
//	rules.go     the tables: Set, Rule, For
//	checker.go   Checker, which checks one conversation with a Set
//	problem.go   the conversion of a program's output
//	view.go      a program's view of a message
//	memory.go    the facts about a connection: requests, stored values
//	program.go   running many programs as one
//	checks.go    conditions that jq cannot check
package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/jq"
	"rpcx/wire/toml"
	"rpcx/wire/validate"
)

// A When selects messages that match all of its members. An empty member matches every message.
type When struct {
	Kind     []string `toml:"kind" json:"kind,omitempty"`         // kinds as in view.go; by default request, notification and response
	Method   []string `toml:"method" json:"method,omitempty"`     // the method of a request or notification, or of the request that a response answers
	From     string   `toml:"from" json:"from,omitempty"`         // "client" or "server"
	Mentions []string `toml:"mentions" json:"mentions,omitempty"` // one of these strings must occur in the message
	Sort     []string `toml:"sort" json:"sort,omitempty"`         // the output of Set.About must contain one of these words in its member sort
}

// A Rule is one requirement of a specification.
type Rule struct {
	Name     string         `toml:"name" json:"name"`
	Level    validate.Level `toml:"level" json:"level"`
	Section  string         `toml:"section" json:"section"`
	Sentence string         `toml:"sentence" json:"sentence"`
	When
	JQ    string `toml:"jq" json:"jq,omitempty"`       // finds violations of the rule
	Check string `toml:"check" json:"check,omitempty"` // a function in checks.go that examines the output of JQ; "" if each output is a problem
	Page  string `toml:"-" json:"page"`                // the document that contains Section
}

// A Keep stores facts about a message for programs that run on later messages.
type Keep struct {
	When
	JQ string `toml:"jq" json:"jq"`
}

// A Set contains the rules of a dialect.
type Set struct {
	Dialect string   `toml:"-"`
	Page    string   `toml:"page"`
	Base    string   `toml:"base"`
	Except  []string `toml:"except"`
	Defs    string   `toml:"defs"`
	About   string   `toml:"about"` // a jq program, by default .
	Keep    []Keep   `toml:"keep"`
	Rules   []Rule   `toml:"rule"`
	// Schemas is a JSON object of message schemas by method, for the check "message", or "".
	Schemas string `toml:"-"`
}

// For returns the rules of a dialect. "" stands for the default dialect. For returns a usage Fault if the dialect does
// not exist or has no rules.
func For(dialect string) (*Set, error) {
	if dialect == "" {
		dialect = all.Default()
	}
	spec, err := all.Lookup(dialect)
	if err != nil {
		return nil, err
	}
	if spec.Validation.Rules == "" {
		return nil, wire.Usagef("there are no rules for %s", dialect)
	}
	s, err := Parse(spec.Validation.Rules)
	if err == nil && !slices.Contains(all.Names(), dialect) { // a user's dialect file
		err = s.Compile()
	}
	if err != nil {
		return nil, wire.Usagef("the rules of %s: %v", dialect, err)
	}
	s.Dialect, s.Schemas = dialect, spec.Validation.Schemas
	return s, nil
}

// Has reports whether there are rules for a dialect.
func Has(dialect string) bool { return all.Named(dialect).Validation.Rules != "" }

// Dialects returns the names of the embedded dialects with rules, in the order of all.Names.
func Dialects() []string {
	return slices.DeleteFunc(all.Names(), func(name string) bool { return !Has(name) })
}

// Parse reads the TOML of a set and adds the rules of its base.
func Parse(text string) (*Set, error) {
	s := &Set{}
	if err := toml.Decode([]byte(text), s); err != nil {
		return nil, err
	}
	for i := range s.Rules {
		s.Rules[i].Page = s.Page
	}
	if s.Base != "" {
		base, err := For(s.Base)
		if err != nil {
			return nil, err
		}
		s.on(base)
	}
	return s, s.check()
}

// on adds the rules of base to s, except those that s replaces or excludes.
func (s *Set) on(base *Set) {
	skipped := append(wire.Map(s.Rules, func(r Rule) string { return r.Name }), s.Except...)
	for _, r := range base.Rules {
		if !slices.Contains(skipped, r.Name) {
			s.Rules = append(s.Rules, r)
		}
	}
	s.Keep = append(s.Keep, base.Keep...)
	s.Defs = base.Defs + "\n" + s.Defs
}

// check returns an error if the set is inconsistent.
func (s *Set) check() error {
	seen := map[string]bool{}
	for _, r := range s.Rules {
		switch {
		case r.Name == "" || seen[r.Name]:
			return fmt.Errorf("a rule has no name, or another one has the same name: %q", r.Name)
		case r.Level != validate.Must && r.Level != validate.Should:
			return fmt.Errorf(`the rule %s: its level is %q, neither "must" nor "should"`, r.Name, r.Level)
		case r.Section == "" || r.Sentence == "":
			return fmt.Errorf("the rule %s has no section or no sentence", r.Name)
		case r.Check != "" && checks[r.Check] == nil:
			return fmt.Errorf("the rule %s: unknown check %q", r.Name, r.Check)
		}
		seen[r.Name] = true
		if err := r.When.check(); err != nil {
			return fmt.Errorf("the rule %s: %w", r.Name, err)
		}
	}
	for i, k := range s.Keep {
		if err := k.When.check(); err != nil {
			return fmt.Errorf("keep %d: %w", i+1, err)
		}
	}
	return nil
}

// Compile compiles all programs of the set. It returns the first error, which names the program.
func (s *Set) Compile() error {
	programs := [][2]string{{"about", cmp.Or(s.About, ".")}}
	for _, r := range s.Rules {
		programs = append(programs, [2]string{"the rule " + r.Name, r.JQ})
	}
	for i, k := range s.Keep {
		programs = append(programs, [2]string{fmt.Sprintf("keep %d", i+1), k.JQ})
	}
	for _, p := range programs {
		if _, err := jq.Compile(common+s.Defs+"\n"+p[1], jq.Options{Funcs: functions}); err != nil {
			return fmt.Errorf("%s: %w", p[0], err)
		}
	}
	return nil
}

// check returns an error if w contains an invalid value.
func (w *When) check() error {
	for _, k := range w.Kind {
		if !slices.Contains(kinds, k) {
			return fmt.Errorf("unknown message kind %q: use one of %s", k, strings.Join(kinds, ", "))
		}
	}
	if w.From != "" && w.From != client && w.From != server {
		return fmt.Errorf(`"from" is %q, neither "client" nor "server"`, w.From)
	}
	return nil
}
