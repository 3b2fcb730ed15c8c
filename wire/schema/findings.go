package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A Finding is one reason why a value does not fit its schema.
type Finding struct {
	Pointer string // where in the value; "" is the whole
	Rule    string // the keyword that is not met, such as "type"
	Schema  string // where that keyword's schema is: a JSON pointer, after its file where that is another one
	Message string // what is wrong and what was expected, without the place

	// Branches are, where Rule is oneOf or anyOf and no alternative fits, the
	// alternatives, the one first that the value comes nearest to.
	Branches []Branch
}

// A Branch is one alternative of a oneOf or anyOf.
type Branch struct {
	Number   int    // its place in the schema, from 1
	Name     string // its title, or the last part of its $ref; "": it has none
	Findings []Finding
}

// Check returns all that keeps val from fitting, in the order of its places; none
// where it fits. A val that is not JSON is one finding, of the rule json.
func (v *Validator) Check(val json.RawMessage) (all []Finding) {
	if hasHuge(val) {
		return []Finding{{Rule: "type", Message: tooLarge().Message}}
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(val))
	if err != nil {
		return []Finding{{Rule: "json", Message: "is not JSON: " + err.Error()}}
	}
	defer func() {
		if r := recover(); r != nil { // see check
			all = []Finding{{Rule: "type", Message: tooLarge().Message}}
		}
	}()
	var ve *jsonschema.ValidationError
	if err := v.schema.Validate(doc); errors.As(err, &ve) {
		all = sorted(findings(ve))
		v.localise(all)
	}
	return all
}

// localise leaves the schema's own file out of the places in it.
func (v *Validator) localise(all []Finding) {
	for i := range all {
		all[i].Schema = strings.TrimPrefix(all[i].Schema, v.name+"#")
		for _, b := range all[i].Branches {
			v.localise(b.Findings)
		}
	}
}

// findings goes down the library's tree of errors to what is wrong itself.
func findings(e *jsonschema.ValidationError) []Finding {
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		if len(e.Causes) > 0 {
			return below(e)
		}
	case *kind.AnyOf:
		return []Finding{alternatives(e)}
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return []Finding{alternatives(e)}
		}
	case *kind.PropertyNames:
		f := finding(e)
		f.Message = "the name " + brief(strconv.Quote(k.Property)) + " is not allowed"
		if why := below(e); len(why) > 0 {
			f.Message += ": " + why[0].Message
		}
		return []Finding{f}
	}
	return []Finding{finding(e)}
}

func below(e *jsonschema.ValidationError) []Finding {
	var all []Finding
	for _, c := range e.Causes {
		all = append(all, findings(c)...)
	}
	return all
}

func finding(e *jsonschema.ValidationError) Finding {
	if k, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
		slices.Sort(k.Properties) // they come in any order
	}
	return Finding{Pointer: pointerOf(e.InstanceLocation), Rule: rule(e), Schema: schemaPlace(e.SchemaURL), Message: say(e)}
}

// alternatives returns the finding of a oneOf or anyOf of which nothing fits.
func alternatives(e *jsonschema.ValidationError) Finding {
	f := finding(e)
	depth := len(e.InstanceLocation)
	type ranked struct {
		Branch
		constants bool
		depth     int
	}
	var all []ranked
	for i, c := range e.Causes {
		all = append(all, ranked{
			Branch:    Branch{branchNumber(e, c, i), branchName(c), sorted(findings(c))},
			constants: constantBelow(c, depth) == nil,
			depth:     deepest(c),
		})
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(firstTrue(a.constants, b.constants), cmp.Compare(wrongKind(a.Branch, f.Pointer), wrongKind(b.Branch, f.Pointer)),
			cmp.Compare(len(a.Findings), len(b.Findings)), cmp.Compare(b.depth, a.depth))
	})
	for _, r := range all {
		f.Branches = append(f.Branches, r.Branch)
	}
	f.Message = "fits no alternative of " + strconv.Itoa(len(all))
	if len(all) > 0 {
		f.Message += ": nearest is " + all[0].title() + ", but " + all[0].why(f.Pointer)
	}
	return f
}

// title returns a branch as a sentence names it.
func (b Branch) title() string {
	if b.Name == "" {
		return "number " + strconv.Itoa(b.Number)
	}
	return "number " + strconv.Itoa(b.Number) + " (" + brief(b.Name) + ")"
}

// why returns the first finding of a branch, with its place seen from the value
// that the alternatives are for.
func (b Branch) why(at string) string {
	if len(b.Findings) == 0 {
		return "it does not fit"
	}
	first := b.Findings[0]
	if place := strings.TrimPrefix(first.Pointer, at); place != "" {
		return brief(place) + " " + first.Message
	}
	return "the value " + first.Message
}

// wrongKind returns 1 for an alternative that wants another type of value
// altogether.
func wrongKind(b Branch, at string) int {
	if slices.ContainsFunc(b.Findings, func(f Finding) bool { return f.Pointer == at && f.Rule == "type" }) {
		return 1
	}
	return 0
}

func firstTrue(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func deepest(e *jsonschema.ValidationError) int {
	depth := len(e.InstanceLocation)
	for _, c := range e.Causes {
		depth = max(depth, deepest(c))
	}
	return depth
}

// branchNumber returns the place of an alternative in the schema: what follows the
// keyword in its address.
func branchNumber(of, e *jsonschema.ValidationError, i int) int {
	_, rest, _ := strings.Cut(strings.TrimPrefix(e.SchemaURL, of.SchemaURL), "Of/")
	token, _, _ := strings.Cut(rest, "/")
	if n, err := strconv.Atoi(token); err == nil {
		return n + 1
	}
	return i + 1
}

// branchName returns what a $ref calls an alternative.
func branchName(e *jsonschema.ValidationError) string {
	k, ok := e.ErrorKind.(*kind.Reference)
	if !ok && len(e.Causes) == 1 {
		k, ok = e.Causes[0].ErrorKind.(*kind.Reference)
	}
	if !ok {
		return ""
	}
	address, fragment, _ := strings.Cut(k.URL, "#")
	if fragment == "" {
		fragment = address
	}
	name := fragment[strings.LastIndexByte(fragment, '/')+1:]
	if u, err := url.PathUnescape(name); err == nil {
		name = u
	}
	return name
}

// schemaPlace returns the library's address of a schema as the user knows it.
func schemaPlace(address string) string {
	file, fragment, _ := strings.Cut(address, "#")
	if p, ok := unescapeFragment(fragment); ok {
		fragment = p
	}
	if file = inFolder(file); file == "" {
		return fragment
	}
	return file + "#" + fragment
}

// sorted puts findings into the order of their places, each once.
func sorted(all []Finding) []Finding {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Rule, b.Rule), strings.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(all, func(a, b Finding) bool {
		return a.Pointer == b.Pointer && a.Rule == b.Rule && a.Message == b.Message
	})
}
