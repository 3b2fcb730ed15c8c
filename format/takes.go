package format

import (
	"encoding/json"
	"strings"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// Takes returns in a few words, on one line, what a method's schema accepts; ""
// if it does not say. The member method, in which some services repeat the
// method's name, is left out.
func Takes(schema json.RawMessage) string {
	if scan.Type(schema) != 'o' {
		return ""
	}
	c := &catalog.Catalog{Defs: map[string]json.RawMessage{}}
	for _, key := range []string{"definitions", "$defs"} {
		for name, val := range scan.Members(scan.Get(schema, key)) {
			c.Defs[scan.Key(name)] = val
		}
	}
	var words []string
	for _, p := range parameters(c, schema) {
		if p.name == "method" && only(p.schema) != nil {
			continue
		}
		word := p.name + " (" + typeText(p.schema)
		if p.required {
			word += ", required"
		}
		words = append(words, word+")")
	}
	if len(words) == 0 {
		return "no parameters"
	}
	return Cut(strings.Join(words, ", "), 400)
}
