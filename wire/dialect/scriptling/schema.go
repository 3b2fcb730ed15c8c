package scriptling

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// Hooks use these names for a class's constructor and destructor: Config.__init__ and Config.__del__.
const (
	constructor = "__init__"
	destructor  = "__del__"
)

// A schema is the member schema of a handshake's result.
type schema struct {
	Functions []member   `json:"functions"`
	Classes   []class    `json:"classes"`
	Constants []constant `json:"constants"`
}

// A member is a function, a method or a property.
type member struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Source      string `json:"source,omitempty"`
	Original    string `json:"original,omitempty"` // its name at the peer of the bridge, if different
	Settable    bool   `json:"settable,omitempty"`
}

type class struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Source      string   `json:"source,omitempty"`
	Constructor *member  `json:"constructor,omitempty"`
	Methods     []member `json:"methods"`
	Properties  []member `json:"properties"`
}

type constant struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// toCatalog converts the result of a handshake to a catalog. Functions become methods, and so do the methods of
// classes, with names such as Class.method. Classes stay unchanged. Extra contains unknown members, and constants that
// are not transport values, because real hosts accept such a plugin. warn receives a message about each such constant.
func toCatalog(response json.RawMessage, warn func(text string)) *catalog.Catalog {
	library, sch := scan.Get(response, "library"), scan.Get(response, "schema")
	c := &catalog.Catalog{Catalog: 1, Dialect: "scriptling", Methods: []catalog.Method{}}
	c.Info = catalog.Info{
		Name: scan.String(scan.Get(library, "name")), Version: scan.String(scan.Get(library, "version")),
		Description: scan.String(scan.Get(library, "description")), Extra: without(library, "name", "version", "description"),
	}
	for f := range objects(scan.Get(sch, "functions")) {
		c.Methods = append(c.Methods, toMethod("", f))
	}
	for cl := range objects(scan.Get(sch, "classes")) {
		name, _ := scan.Text(scan.Get(cl, "name"))
		c.Classes = append(c.Classes, slices.Clone(cl))
		for m := range objects(scan.Get(cl, "methods")) {
			c.Methods = append(c.Methods, toMethod(name+".", m))
		}
	}
	var unreadable []json.RawMessage
	c.Constants, unreadable = toConstants(scan.Get(sch, "constants"), warn)
	c.Extra = without(response, "library", "schema", "protocol", "transport")
	if len(unreadable) > 0 {
		var o scan.Object
		o.Members(c.Extra)
		o.Add("constants", scan.ArrayOf(unreadable...))
		c.Extra = o.End()
	}
	return c
}

func toMethod(prefix string, val []byte) catalog.Method {
	return catalog.Method{
		Kind: catalog.Call, Name: prefix + scan.String(scan.Get(val, "name")),
		Description: scan.String(scan.Get(val, "description")), Extra: without(val, "name", "description"),
	}
}

// toConstants returns the constants as an object of plain values, or nil. It returns unreadable constants unchanged. If
// the constants are an object, which the specification does not allow, its unreadable values also stay unchanged.
func toConstants(list []byte, warn func(text string)) (values json.RawMessage, unreadable []json.RawMessage) {
	var o scan.Object
	if scan.Type(list) == 'o' {
		warn(`the constants are an object, but a host expects a list of {"name","value"}`)
		for key, val := range scan.Members(list) {
			if value, err := plain(nil, val); err == nil {
				val = value
			}
			o.Member(key, val)
		}
		return o.EndOrNil(), nil
	}
	for val := range objects(list) {
		name, ok := scan.Text(scan.Get(val, "name"))
		if !ok {
			continue
		}
		value, err := plain(nil, scan.Get(val, "value"))
		if err != nil {
			warn(fmt.Sprintf("the constant %s cannot be read: %v", clip(name), err))
			unreadable = append(unreadable, slices.Clone(val))
			continue
		}
		o.Add(name, value)
	}
	return o.EndOrNil(), unreadable
}

// objects yields those elements of an array that are objects.
func objects(array []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for v := range scan.Elements(array) {
			if scan.Type(v) == 'o' && !yield(v) {
				return
			}
		}
	}
}

// without returns obj without the members in keys and those that are empty strings, or nil if no members remain.
func without(obj []byte, keys ...string) json.RawMessage {
	var o scan.Object
	for key, v := range scan.Members(obj) {
		if !slices.Contains(keys, scan.Key(key)) && string(v) != `""` {
			o.Member(key, v)
		}
	}
	return o.EndOrNil()
}

// fromCatalog converts a local catalog to a schema. A method with a dot in its name belongs to a class. Other methods
// are functions.
func fromCatalog(c *catalog.Catalog) (s schema, err error) {
	s = schema{Functions: []member{}, Classes: []class{}, Constants: []constant{}}
	for _, raw := range c.Classes {
		var cl class
		if err := json.Unmarshal(raw, &cl); err != nil {
			return s, fmt.Errorf("a class: %w", err)
		}
		s.Classes = append(s.Classes, cl)
	}
	for i := range c.Methods {
		s.add(&c.Methods[i])
	}
	for i := range s.Classes {
		s.Classes[i].complete()
	}
	for key, v := range scan.Members(c.Constants) {
		value, err := encoder{}.value(nil, v, "")
		if err != nil {
			return s, fmt.Errorf("the constant %s: %w", scan.Key(key), err)
		}
		s.Constants = append(s.Constants, constant{scan.Key(key), value})
	}
	return s, nil
}

func (s *schema) add(m *catalog.Method) {
	f := member{Name: m.Name, Description: m.Description, Source: scan.String(scan.Get(m.Extra, "source")), Original: scan.String(scan.Get(m.Extra, "original"))}
	name, part, dotted := strings.Cut(m.Name, ".")
	if !dotted {
		s.Functions = append(s.Functions, f)
		return
	}
	cl := s.class(name)
	if cl == nil {
		s.Classes = append(s.Classes, class{Name: name})
		cl = s.class(name)
	}
	f.Name = part
	if part == constructor || part == destructor || hasMember(cl.Methods, part) || hasMember(cl.Properties, part) {
		return
	}
	cl.Methods = append(cl.Methods, f)
}

func (s *schema) class(name string) *class {
	return wire.Find(s.Classes, func(c *class) bool { return c.Name == name })
}

// complete adds the required members of a class. It removes __init__ and __del__ from the methods, because a host would
// define them in its own language, in which they have another meaning.
func (c *class) complete() {
	c.Methods = slices.DeleteFunc(c.Methods, func(m member) bool { return m.Name == constructor || m.Name == destructor })
	if c.Constructor == nil || c.Constructor.Name == "" {
		c.Constructor = &member{Name: c.Name}
	}
	if c.Methods == nil {
		c.Methods = []member{}
	}
	if c.Properties == nil {
		c.Properties = []member{}
	}
}

func hasMember(list []member, name string) bool {
	return slices.ContainsFunc(list, func(m member) bool { return m.Name == name })
}

func names(list []member) string {
	return strings.Join(wire.Map(list, func(m member) string { return m.Name }), ", ")
}

// handshakeResult returns the result of a handshake, as a plugin sends it.
func handshakeResult(c *catalog.Catalog, s schema) (json.RawMessage, error) {
	type library struct {
		Name        string `json:"name"`
		Version     string `json:"version"`
		Description string `json:"description"`
	}
	return scan.Marshal(struct {
		Protocol     string   `json:"protocol"`
		Transport    string   `json:"transport"`
		Library      library  `json:"library"`
		Capabilities []string `json:"capabilities"`
		Schema       schema   `json:"schema"`
	}{Version, "json", library{c.Info.Name, c.Info.Version, c.Info.Description}, []string{"remote_objects"}, s})
}
