package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/userfile"
)

// Load reads a catalog from a file. Errors are usage Faults that name the file and the place.
func Load(file string) (*Catalog, error) {
	b, err := userfile.Read(file)
	if err != nil {
		return nil, wire.NewFault(wire.Usage, "cannot read the catalog: "+err.Error(), err)
	}
	c, err := Parse(userfile.Unmarked(b))
	if err != nil {
		return nil, wire.AsFault(err).About(file)
	}
	return c, nil
}

// Parse reads a catalog. Errors are usage Faults that name the place. Parse moves unknown members to extra at the same
// level.
func Parse(b []byte) (*Catalog, error) {
	if err := syntax(b); err != nil {
		return nil, wire.NewFault(wire.Usage, err.Error(), err)
	}
	c := &Catalog{}
	err := c.decode(b)
	if err == nil && c.Catalog != 1 {
		err = errors.New(`it must have "catalog":1, the supported version`)
	}
	if err == nil && c.Methods == nil {
		err = errors.New(`it must have "methods", an array (which may be empty)`)
	}
	if err == nil {
		err = c.checkNames()
	}
	if err != nil {
		return nil, wire.NewFault(wire.Usage, "not a catalog: "+err.Error(), err)
	}
	return c, nil
}

// syntax returns an error with the line and column of the first invalid byte, or nil.
func syntax(b []byte) error {
	var v json.RawMessage
	err := json.Unmarshal(b, &v)
	se, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return err
	}
	at := min(max(int(se.Offset)-1, 0), len(b))
	line := 1 + strings.Count(string(b[:at]), "\n")
	column := at - strings.LastIndexByte(string(b[:at]), '\n')
	return fmt.Errorf("line %d, column %d: not JSON: %w", line, column, err)
}

// UnmarshalJSON reads a catalog without checking its version.
func (c *Catalog) UnmarshalJSON(b []byte) error {
	*c = Catalog{}
	return c.decode(b)
}

// UnmarshalJSON reads one method.
func (m *Method) UnmarshalJSON(b []byte) error {
	*m = Method{}
	return m.decode(b, "")
}

// A place decodes raw, the value of the member at the JSON pointer at.
type place func(at string, raw json.RawMessage) error

// is returns a place that decodes into v. want describes the expected value.
func is(v any, want string) place {
	return func(at string, raw json.RawMessage) error { return text(at, raw, v, want) }
}

// whole returns a place for any JSON value.
func whole(v *json.RawMessage) place {
	return func(_ string, raw json.RawMessage) error { *v = raw; return nil }
}

// read decodes the object b at the pointer at: each member with its place, and unknown members into more. Errors call
// the object what.
func read(what string, b []byte, at string, more *json.RawMessage, places map[string]place) error {
	if !isObject(scan.Trim(b)) {
		return fmt.Errorf("%s must be an object", what)
	}
	var others scan.Object
	for key, val := range scan.Named(b) {
		put := places[key]
		if key == "extra" {
			put = only(more, isObject, "it must be an object")
		}
		if put == nil {
			others.Add(key, val)
		} else if err := put(at+"/"+key, val); err != nil {
			return err
		}
	}
	*more = merge(*more, others.EndOrNil())
	return nil
}

func (c *Catalog) decode(b []byte) error {
	return read("it", b, "", &c.Extra, map[string]place{
		"catalog":   is(&c.Catalog, "a number"),
		"$schema":   is(&c.Schema, "a string"),
		"dialect":   is(&c.Dialect, "a string"),
		"info":      func(at string, raw json.RawMessage) error { return c.Info.decode(raw, at) },
		"methods":   func(_ string, raw json.RawMessage) error { return c.decodeMethods(raw) },
		"classes":   is(&c.Classes, "an array"),
		"constants": whole(&c.Constants),
		"$defs":     is(&c.Defs, "an object of schemas"),
	})
}

func (c *Catalog) decodeMethods(raw json.RawMessage) error {
	var list []json.RawMessage
	if err := text("/methods", raw, &list, "an array"); err != nil {
		return err
	}
	c.Methods = make([]Method, len(list))
	for i, m := range list {
		if err := c.Methods[i].decode(m, "/methods/"+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

func (i *Info) decode(b []byte, at string) error {
	return read(at+": it", b, at, &i.Extra, map[string]place{
		"name":        is(&i.Name, "a string"),
		"version":     is(&i.Version, "a string"),
		"description": is(&i.Description, "a string"),
	})
}

func (d *Method) decode(b []byte, at string) error {
	err := read(at+": a method", b, at, &d.Extra, map[string]place{
		"name":        is(&d.Name, "a string"),
		"kind":        func(at string, raw json.RawMessage) error { return kind(at, raw, &d.Kind) },
		"description": is(&d.Description, "a string"),
		"params":      only(&d.Params, isSchema, "a schema must be an object, true or false"),
		"result":      only(&d.Result, isSchema, "a schema must be an object, true or false"),
		"events":      is(&d.Events, "an object of schemas"),
		"effects":     is(&d.Effects, "an array of strings"),
		"hints":       whole(&d.Hints),
		"cache":       whole(&d.Cache),
		"stream":      func(at string, raw json.RawMessage) (err error) { d.Stream, err = streamForm(at, raw); return err },
		"run":         is(&d.Run, "a string"),
	})
	if err == nil && d.Name == "" {
		err = fmt.Errorf("%s: a method must have a name", at)
	}
	return err
}

// streamForm reads the stream member of a method.
func streamForm(at string, val json.RawMessage) (*StreamForm, error) {
	var f StreamForm
	if err := text(at, val, &f, `an object with "method" and "id"`); err != nil {
		return nil, err
	}
	if f.ID != "" && !slices.Contains(StreamIDs, f.ID) {
		return nil, fmt.Errorf("%s/id: %q is not one of %s", at, f.ID, strings.Join(StreamIDs, ", "))
	}
	return &f, nil
}

func (c *Catalog) checkNames() error {
	seen := map[string]int{}
	for i, m := range c.Methods {
		if first, ok := seen[m.Name]; ok {
			return fmt.Errorf("/methods/%d/name: %q is already at /methods/%d", i, m.Name, first)
		}
		seen[m.Name] = i
	}
	return nil
}

func text(at string, raw json.RawMessage, v any, want string) error {
	if string(raw) == "null" || json.Unmarshal(raw, v) != nil {
		return fmt.Errorf("%s: it must be %s", at, want)
	}
	return nil
}

func kind(at string, raw json.RawMessage, k *Kind) error {
	if err := text(at, raw, k, "a string"); err != nil {
		return err
	}
	known := []string{string(Call), string(Stream), string(Job), string(Notify)}
	if slices.Contains(known, string(*k)) {
		return nil
	}
	if near := Nearest(string(*k), known); near != "" {
		return fmt.Errorf("%s: unknown kind %q; did you mean %s?", at, *k, near)
	}
	return fmt.Errorf("%s: unknown kind %q; use one of %s", at, *k, strings.Join(known, ", "))
}

// only returns a place for values for which is returns true. want describes them.
func only(v *json.RawMessage, is func(raw json.RawMessage) bool, want string) place {
	return func(at string, raw json.RawMessage) error {
		if !is(raw) {
			return fmt.Errorf("%s: %s", at, want)
		}
		*v = raw
		return nil
	}
}

// merge adds the members of the object more to extra, but replaces none.
func merge(extra, more json.RawMessage) json.RawMessage {
	if more == nil {
		return extra
	}
	has := wire.SetOf(Keys(extra))
	var o scan.Object
	o.Members(extra)
	for key, val := range scan.Named(more) {
		if !has[key] {
			o.Add(key, val)
		}
	}
	return o.End()
}

// Fill reads the description of a method in another form. fields contains, for the members of obj, the names in a
// catalog. All other members, and members of the wrong type, become members of Extra.
func (d *Method) Fill(obj []byte, fields map[string]string) {
	var rest scan.Object
	for name, val := range scan.Named(obj) {
		if !d.Set(fields[name], val) {
			rest.Compact(name, val)
		}
	}
	d.Extra = rest.EndOrNil()
}

// settable are the members that Set stores. The others are not a peer's to choose.
var settable = []string{"name", "kind", "description", "params", "result", "events", "effects", "hints", "cache", "stream"}

// Set stores val in the member with that name in a catalog. It returns false for val of the wrong type, and for any
// name that is not settable.
func (d *Method) Set(name string, val json.RawMessage) bool {
	type members Method // without UnmarshalJSON, which replaces the whole method
	return slices.Contains(settable, name) && json.Unmarshal(scan.Pair(name, val), (*members)(d)) == nil
}
