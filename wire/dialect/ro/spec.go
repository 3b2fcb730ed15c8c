package ro

import (
	_ "embed" // the rules and the probes
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
)

// rpcx validate uses these rules and probes.
var (
	//go:embed rules.toml
	rules string
	//go:embed probes.toml
	probes string
)

// settings are the extra top-level members of a request.
var settings = []dialect.Setting{
	{Name: "resource", Type: "string", Says: "the resource, with a dotted METHOD"},
	{Name: "target", Type: "any", Says: "the target in the resource (a string or a number)"},
	{Name: "verb", Type: "string", Says: "the verb"},
	{Name: "parent", Type: "any", Says: "the owner of the subresource (a string or a number)"},
	{Name: "subresource", Type: "string", Says: "the subresource"},
	{Name: "meta", Type: "object", Says: "the client's metadata, which hooks receive"},
	{Name: "plain", Type: "boolean", Says: "if true, rpcx sends plain JSON-RPC, without these members"},
}

// Spec returns this dialect's row in the table of dialects.
func Spec() dialect.Spec {
	return dialect.Spec{
		Name:          "ro",
		NewCodec:      NewCodec,
		NewServer:     NewServer,
		Shape:         Shape,
		JSONRPCMember: true,
		Names: dialect.Names{
			Check:    CheckName,
			Wire:     Method,
			Spelling: &dialect.Spelling{User: Respell, Hook: Name, Wire: WireName, Covers: subresources},
		},
		Params:     dialect.Params{Settings: settings},
		Catalog:    catalog.Conventions{Resource: resourceAndVerb, Typed: typedForm},
		Validation: dialect.Validation{Rules: rules, Probes: probes},
		Bridge:     dialect.Bridging{Name: dottedName, Described: true, Fields: targeted, Endless: true, Progress: laterResults, Whole: hasNoResource},
		Detection: &dialect.Detection{Probe: &dialect.Probe{
			Send: fmt.Sprintf(`{jsonrpc: "2.0", id: $id, method: %q}`, describe),
			Is:   `$request.method? == "` + describe + `" and ((.result | objects | has("ro-jrpc") or has("resources")) // false)`,
		}},
		Discovery:   &dialect.Discovery{Missing: "it has no rpc.describe"},
		Jobs:        &dialect.Jobs{},
		Streams:     dialect.Streams{NoCancel: true, Deferred: true, Follows: Follows},
		AnswerCache: &dialect.AnswerCache{Key: CacheKey, MaxAge: MaxAge},
	}
}

// subresources returns the patterns that RESOURCE:* in a policy implies: all subresources of the resource.
func subresources(pattern string) []string {
	resource, all := strings.CutSuffix(pattern, ":*")
	if !all || resource == "" || strings.ContainsAny(resource, ".*:") {
		return nil
	}
	return []string{resource + ".*:*"}
}

// resourceAndVerb splits a name such as repo.issue.get. A name without a verb is a resource.
func resourceAndVerb(m *catalog.Method) (resource, verb string) {
	a := dotted(m.Name)
	if a.Verb == "" {
		return m.Name, ""
	}
	return resourceOf(a), a.Verb
}

// typedForm returns a method as a user types it: PATH:VERB, with the example target and parent in the method's hints.
func typedForm(m *catalog.Method) string {
	resource, verb := resourceAndVerb(m)
	if verb == "" {
		return m.Name
	}
	hint := func(name string) string {
		val := scan.Get(m.Hints, name)
		text, ok := scan.Text(val)
		if !ok {
			text = string(val)
		}
		if !isSegment(text) {
			return ""
		}
		return text
	}
	target := hint("target")
	if name, sub, ok := strings.Cut(resource, "."); ok {
		resource = name + "/" + hint("parent") + "/" + sub
	}
	if target != "" {
		resource += "/" + target
	}
	return resource + ":" + verb
}

// isSegment reports whether text can be a segment of a path: letters, digits, _ . and -, but no . or - at the start.
func isSegment(text string) bool {
	for i, c := range []byte(text) {
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '.' && c != '-') {
			return false
		}
	}
	return text != ""
}

// Shape describes RO-JRPC's messages for tapes. The ids of requests and jobs in async results differ in every
// conversation.
func Shape() dialect.Shape {
	s := jsonrpc.Shape(jsonrpc.V2)
	s.MadeUp = slices.Concat(s.MadeUp, dialect.Places("/request_id", "/result/job", "/result/job_id"), []dialect.Place{
		{Method: "job.*", Pointer: "/target"}, {Method: "job.*", Pointer: "/result/id"},
	})
	return s
}

// targeted separates the target and the parent from the params, for callers whose dialect has no members for them.
func targeted(params json.RawMessage) (extra, rest json.RawMessage) {
	var about, others scan.Object
	about.Add("target", scan.Get(params, "target"))
	about.Add("parent", scan.Get(params, "parent"))
	if about.Empty() {
		return nil, params
	}
	others.Named(params, "target", "parent")
	return about.End(), others.EndOrNil()
}

// hasNoResource reports whether a method has no resource. Its requests have no structured fields and get one response.
func hasNoResource(method string) bool { return !strings.ContainsAny(method, ".:") }

// dottedName returns the wire name for a method of another dialect. A dot replaces the colon before a verb. In other
// names, _ replaces colons.
func dottedName(method string) string {
	if name := WireName(method); Name(name) == Name(method) {
		return name
	}
	return strings.ReplaceAll(method, ":", "_")
}

// laterResults reports whether a method has results after its first response. Such results carry progress.
func laterResults(method string, kind catalog.Kind) bool {
	return !hasNoResource(method) && (kind == catalog.Job || kind == catalog.Stream)
}
