package format

import (
	"encoding/json"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// nestedMost is how deep parameters inside parameters are listed: schemas may go
// in circles.
const nestedMost = 3

// rowsMost bounds what is listed of one method.
const rowsMost = 500

// nested lists parameters, each followed by what is inside it, under the dotted
// names that a command line has for that. Of an object that comes in several
// forms it says which form has what.
func nested(c *catalog.Catalog, params []parameter, prefix string, depth int) []parameter {
	var all []parameter
	for _, p := range params {
		if len(all) >= rowsMost {
			return all
		}
		p.name = prefix + p.name
		all = append(all, p)
		if depth == nestedMost {
			continue
		}
		def := definition(c, p.schema)
		all = append(all, nested(c, parameters(c, def), p.name+".", depth+1)...)
		forms := elements(scan.Get(def, "oneOf"))
		if forms == nil {
			forms = elements(scan.Get(def, "anyOf"))
		}
		if which, ok := telling(c, forms, p.name+"."); ok {
			all = append(all, which)
		}
		for _, form := range forms[:min(len(forms), rowsMost)] {
			if len(all) >= rowsMost {
				return all
			}
			all = append(all, ofForm(c, form, p.name+".", depth+1)...)
		}
	}
	return all
}

// telling is the member by which forms are told from each other: one that has a
// constant in each.
func telling(c *catalog.Catalog, forms []json.RawMessage, prefix string) (parameter, bool) {
	var which parameter
	var values []byte
	for _, form := range forms {
		name, value := constant(c, form)
		if value == nil || which.name != "" && which.name != prefix+name {
			return parameter{}, false
		}
		which.name, which.required = prefix+name, true
		values = append(append(values, ','), value...)
	}
	if values == nil {
		return parameter{}, false
	}
	which.schema = append(append([]byte(`{"enum":[`), values[1:]...), `]}`...)
	return which, true
}

// constant is the first member of an object that can only have one value.
func constant(c *catalog.Catalog, form json.RawMessage) (name string, value json.RawMessage) {
	for _, m := range parameters(c, form) {
		if value := scan.Get(definition(c, m.schema), "const"); value != nil {
			return m.name, value
		}
	}
	return "", nil
}

// ofForm is what one form of an object has, beside what tells which form it is.
func ofForm(c *catalog.Catalog, form json.RawMessage, prefix string, depth int) []parameter {
	which, value := constant(c, form)
	var all []parameter
	for _, m := range parameters(c, form) {
		if value != nil && m.name == which {
			continue
		}
		if value != nil {
			m.when = "with " + prefix + which + "=" + excerptText(value)
		}
		all = append(all, m)
	}
	return nested(c, all, prefix, depth)
}

// excerptText is a value without the quotes of a string.
func excerptText(value json.RawMessage) string {
	if text, ok := scan.Text(value); ok {
		return CleanLine(text)
	}
	return excerpt(value)
}
