package versions

import (
	"slices"
	"strconv"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// positions reports positional parameters that have moved to another position. If their schemas are equal, only their
// names show that.
func (c *comparison) positions(before, now *catalog.Catalog) {
	for i := range now.Methods {
		n := &now.Methods[i]
		old := slices.IndexFunc(before.Methods, func(m catalog.Method) bool { return m.Name == n.Name })
		if old < 0 {
			continue
		}
		c.method = n.Name
		at := place{"/methods/" + strconv.Itoa(old) + "/params", "/methods/" + strconv.Itoa(i) + "/params"}
		a, b := positional(before.Methods[old].Params), positional(n.Params)
		for to, name := range b {
			from := slices.Index(a, name)
			if name != "" && from >= 0 && from != to {
				c.add("element-moved", place{at.at("prefixItems", strconv.Itoa(from)).old, at.at("prefixItems", strconv.Itoa(to)).now},
					"the parameter %s was number %d and is number %d", name, from+1, to+1)
			}
		}
	}
	c.method = ""
}

// positional returns the names of the parameters that may be positional, in order. The name is "" for a parameter
// without a name.
func positional(params []byte) (names []string) {
	items := scan.Get(params, "prefixItems")
	if scan.Type(items) != 'a' {
		return nil
	}
	if properties := scan.Get(params, "properties"); properties != nil {
		return catalog.Keys(properties)
	}
	for item := range scan.Elements(items) {
		title, _ := scan.Text(scan.Get(item, "title"))
		names = append(names, title)
	}
	return names
}
