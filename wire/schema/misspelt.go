package schema

import (
	"fmt"
	"slices"
	"strconv"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// others are keywords in addition to those that bare removes from a document that contains schemas.
var others = []string{"$defs", "definitions", "discriminator", "nullable", "xml", "externalDocs", "example", "enumNames"}

// misspelt warns of members of the schemas in v that resemble a keyword without being one, and have no effect.
func misspelt(v any, pointer string, warn func(string)) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	for key := range m {
		if slices.Contains(keywords, key) || slices.Contains(others, key) {
			continue
		}
		if near := catalog.Nearest(key, keywords); near != "" {
			warn(fmt.Sprintf("%q at %s is not a keyword and has no effect; did you mean %s?", key, placeOf(pointer), near))
		}
	}
	for _, key := range schemaWords {
		misspelt(m[key], pointer+"/"+key, warn)
	}
	for _, key := range schemaLists {
		for i, part := range branches(m, key) {
			misspelt(part, pointer+"/"+key+"/"+strconv.Itoa(i), warn)
		}
	}
	for _, key := range append([]string{"$defs", "definitions"}, schemaMaps...) {
		by, _ := m[key].(map[string]any)
		for name, part := range by {
			misspelt(part, pointer+"/"+key+"/"+scan.Escape(name), warn)
		}
	}
}

func placeOf(pointer string) string {
	if pointer == "" {
		return "its root"
	}
	return pointer
}
