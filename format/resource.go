package format

import (
	"regexp"
	"strings"
	"sync"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// nameColumns are the first cells of a method's row: its name or, where methods
// are verbs of resources, both of these.
func nameColumns(c *catalog.Catalog, name, resource, verb string) []string {
	if c.Dialect != "ro" {
		return []string{CleanLine(name)}
	}
	return []string{CleanLine(resource), CleanLine(verb)}
}

// resourceOf takes a name such as repo.issue.get apart; what has no verb is all
// resource.
func resourceOf(m *catalog.Method) (resource, verb string) {
	if n := strings.Count(m.Name, "."); n < 1 || n > 2 || strings.HasPrefix(m.Name, "rpc.") {
		return m.Name, ""
	}
	i := strings.LastIndexByte(m.Name, '.')
	return m.Name[:i], m.Name[i+1:]
}

// segment is what may stand in a path that we show.
var segment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`) })

// typed is how a user types a method: in RO-JRPC PATH:VERB, with the target and
// the parent that hints give as examples.
func typed(c *catalog.Catalog, m *catalog.Method) string {
	resource, verb := resourceOf(m)
	if c.Dialect != "ro" || verb == "" {
		return m.Name
	}
	hint := func(name string) string {
		val := scan.Get(m.Hints, name)
		text, ok := scan.Text(val)
		if !ok {
			text = string(val)
		}
		if !segment().MatchString(text) {
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
