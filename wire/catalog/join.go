package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"rpcx/wire/scan"
)

// Join adds to c the methods of more that it lacks, and the definitions to which
// their schemas may refer. A definition that c has, and that is another one, is an
// error: the schemas of one of them would mean something else.
func (c *Catalog) Join(more *Catalog) error {
	for _, name := range slices.Sorted(maps.Keys(more.Defs)) {
		def := more.Defs[name]
		if have := c.Defs[name]; have != nil && !scan.Equal(have, def) {
			return fmt.Errorf("#/$defs/%s is defined otherwise in a file before it: give it another name", name)
		}
		if c.Defs == nil {
			c.Defs = map[string]json.RawMessage{}
		}
		c.Defs[name] = def
	}
	for _, m := range more.Methods {
		if c.Method(m.Name) == nil {
			c.Methods = append(c.Methods, m)
		}
	}
	return nil
}
