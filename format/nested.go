package format

import (
	"encoding/json"
	"fmt"
	"slices"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// maxNested is the maximum depth at which parameters are listed, because schemas can refer to themselves.
const maxNested = 3

// maxRows is the maximum number of rows that are listed for one method.
const maxRows = 500

// inside returns the parameters of an object, with the dotted names that they have on a command line. Each parameter
// precedes the parameters inside it. If the object has several forms, each parameter is listed with its form.
func inside(c *catalog.Catalog, schema json.RawMessage, prefix string, depth int) []parameter {
	if depth > maxNested {
		return nil
	}
	schema = definition(c, schema)
	all := nested(c, parameters(c, schema), prefix, depth)
	budget := maxExamined
	forms := formsOf(c, schema, &budget)
	forms = slices.DeleteFunc(forms[:min(len(forms), maxRows)], func(form json.RawMessage) bool { return len(parameters(c, form)) == 0 }) // such as a form for null
	if which, ok := distinguishing(c, forms, prefix); ok {
		all = append(all, which)
	}
	for i, form := range forms {
		if len(all) >= maxRows {
			return all
		}
		when := ""
		if len(forms) > 1 {
			when = fmt.Sprintf("in form %d of %d", i+1, len(forms))
		}
		all = append(all, ofForm(c, form, prefix, when, depth)...)
	}
	return all
}

// formsOf returns the forms (oneOf or anyOf) of an object, or of one of its parts.
func formsOf(c *catalog.Catalog, schema json.RawMessage, budget *int) []json.RawMessage {
	if *budget--; *budget < 0 {
		return nil
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		if forms := scan.List(scan.Get(schema, key)); forms != nil {
			return forms
		}
	}
	for _, part := range scan.List(scan.Get(schema, "allOf")) {
		if forms := formsOf(c, definition(c, part), budget); forms != nil {
			return forms
		}
	}
	return nil
}

// nested returns params, each followed by the parameters inside it.
func nested(c *catalog.Catalog, params []parameter, prefix string, depth int) []parameter {
	var all []parameter
	for _, p := range params {
		if len(all) >= maxRows {
			return all
		}
		p.name = prefix + p.name
		if all = append(all, p); tuple(definition(c, p.schema)) == nil { // the elements of a tuple have no dotted names
			all = append(all, inside(c, p.schema, p.name+".", depth+1)...)
		}
	}
	return all
}

// distinguishing returns the member that has a constant value in each of the forms, if there is one.
func distinguishing(c *catalog.Catalog, forms []json.RawMessage, prefix string) (parameter, bool) {
	var which parameter
	var values scan.Array
	for _, form := range forms {
		name, value := constant(c, form)
		if value == nil || which.name != "" && which.name != prefix+name {
			return parameter{}, false
		}
		which.name, which.required = prefix+name, true
		values.Add(value)
	}
	enum := values.EndOrNil()
	if enum == nil {
		return parameter{}, false
	}
	which.schema = scan.Pair("enum", enum)
	return which, true
}

// constant returns the first member of an object for which only one value is possible.
func constant(c *catalog.Catalog, form json.RawMessage) (name string, value json.RawMessage) {
	for _, m := range parameters(c, form) {
		if value := only(definition(c, m.schema)); value != nil {
			return m.name, value
		}
	}
	return "", nil
}

// only returns the single value that a schema allows, or nil.
func only(schema json.RawMessage) json.RawMessage {
	if value := scan.Get(schema, "const"); value != nil {
		return value
	}
	if enum := scan.List(scan.Get(schema, "enum")); len(enum) == 1 {
		return enum[0]
	}
	return nil
}

// ofForm returns the members of one form of an object, except the one that distinguishes the forms. when describes the
// form if there is no such member.
func ofForm(c *catalog.Catalog, form json.RawMessage, prefix, when string, depth int) []parameter {
	which, value := constant(c, form)
	if value != nil {
		when = "with " + prefix + which + "=" + excerptText(value)
	}
	var all []parameter
	for _, m := range parameters(c, form) {
		if value == nil || m.name != which {
			m.when = when
			all = append(all, m)
		}
	}
	return nested(c, all, prefix, depth)
}

// excerptText returns a value as text. Strings have no quotes.
func excerptText(value json.RawMessage) string {
	if text, ok := scan.Text(value); ok {
		return CleanLine(text)
	}
	return excerpt(value)
}
