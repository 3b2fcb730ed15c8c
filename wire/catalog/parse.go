package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
)

// Load reads a catalog from a file. What is wrong with it is a usage Fault that
// names the file and the place.
func Load(file string) (*Catalog, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, wire.NewFault(wire.Usage, "reading the catalog: "+err.Error(), err)
	}
	c, err := Parse(b)
	if err != nil {
		f := *wire.AsFault(err)
		f.Message = file + ": " + f.Message
		return nil, &f
	}
	return c, nil
}

// Parse reads a catalog. What is wrong with it is a usage Fault that names the
// place. Members that a catalog does not have are kept in extra, on their level.
func Parse(b []byte) (*Catalog, error) {
	if err := syntax(b); err != nil {
		return nil, wire.NewFault(wire.Usage, err.Error(), err)
	}
	c := &Catalog{}
	err := c.decode(b)
	if err == nil && c.Catalog != 1 {
		err = errors.New(`it must say "catalog":1, the version that is known here`)
	}
	if err == nil {
		err = c.checkNames()
	}
	if err != nil {
		return nil, wire.NewFault(wire.Usage, "not a catalog: "+err.Error(), err)
	}
	return c, nil
}

// syntax says by line and column where b stops being JSON.
func syntax(b []byte) error {
	var v json.RawMessage
	err := json.Unmarshal(b, &v)
	var se *json.SyntaxError
	if !errors.As(err, &se) {
		return err
	}
	at := min(max(int(se.Offset)-1, 0), len(b))
	line := 1 + strings.Count(string(b[:at]), "\n")
	column := at - strings.LastIndexByte(string(b[:at]), '\n')
	return fmt.Errorf("line %d, column %d: not JSON: %w", line, column, err)
}

// UnmarshalJSON reads a catalog without asking for its version.
func (c *Catalog) UnmarshalJSON(b []byte) error {
	*c = Catalog{}
	return c.decode(b)
}

// UnmarshalJSON reads one method.
func (m *Method) UnmarshalJSON(b []byte) error {
	*m = Method{}
	return m.decode(b, "")
}

// UnmarshalJSON reads what names a peer.
func (i *Info) UnmarshalJSON(b []byte) error {
	*i = Info{}
	return i.decode(b, "")
}

func (c *Catalog) decode(b []byte) error {
	list, ok := members(b)
	if !ok {
		return errors.New("it must be an object")
	}
	var more []member
	for _, m := range list {
		var err error
		switch m.key {
		case "catalog":
			err = text("/catalog", m.value, &c.Catalog, "a number")
		case "$schema":
			err = text("/$schema", m.value, &c.Schema, "a string")
		case "dialect":
			err = text("/dialect", m.value, &c.Dialect, "a string")
		case "info":
			err = c.Info.decode(m.value, "/info")
		case "methods":
			err = c.decodeMethods(m.value)
		case "classes":
			err = text("/classes", m.value, &c.Classes, "an array")
		case "constants":
			c.Constants = m.value
		case "$defs":
			err = text("/$defs", m.value, &c.Defs, "an object of schemas")
		case "extra":
			c.Extra, err = extra("/extra", m.value)
		default:
			more = append(more, m)
		}
		if err != nil {
			return err
		}
	}
	c.Extra = merge(c.Extra, more)
	return nil
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
	list, ok := members(b)
	if !ok {
		return fmt.Errorf("%s: it must be an object", at)
	}
	var more []member
	for _, m := range list {
		var err error
		switch m.key {
		case "name":
			err = text(at+"/name", m.value, &i.Name, "a string")
		case "version":
			err = text(at+"/version", m.value, &i.Version, "a string")
		case "description":
			err = text(at+"/description", m.value, &i.Description, "a string")
		case "extra":
			i.Extra, err = extra(at+"/extra", m.value)
		default:
			more = append(more, m)
		}
		if err != nil {
			return err
		}
	}
	i.Extra = merge(i.Extra, more)
	return nil
}

func (d *Method) decode(b []byte, at string) error {
	list, ok := members(b)
	if !ok {
		return fmt.Errorf("%s: a method must be an object", at)
	}
	var more []member
	for _, m := range list {
		var err error
		at := at + "/" + m.key
		switch m.key {
		case "name":
			err = text(at, m.value, &d.Name, "a string")
		case "kind":
			err = kind(at, m.value, &d.Kind)
		case "description":
			err = text(at, m.value, &d.Description, "a string")
		case "params":
			d.Params, err = schema(at, m.value)
		case "result":
			d.Result, err = schema(at, m.value)
		case "events":
			err = text(at, m.value, &d.Events, "an object of schemas")
		case "effects":
			err = text(at, m.value, &d.Effects, "an array of strings")
		case "hints":
			d.Hints = m.value
		case "cache":
			d.Cache = m.value
		case "stream":
			d.Stream, err = streamForm(at, m.value)
		case "run":
			err = text(at, m.value, &d.Run, "a string")
		case "extra":
			d.Extra, err = extra(at, m.value)
		default:
			more = append(more, m)
		}
		if err != nil {
			return err
		}
	}
	if d.Name == "" {
		return fmt.Errorf("%s: a method must have a name", at)
	}
	d.Extra = merge(d.Extra, more)
	return nil
}

// streamForm reads the stream member of a method.
func streamForm(at string, val json.RawMessage) (*StreamForm, error) {
	var f StreamForm
	if err := text(at, val, &f, `an object with "method" and "id"`); err != nil {
		return nil, err
	}
	if f.ID != "" && !slices.Contains(StreamIDs, f.ID) {
		return nil, fmt.Errorf("%s/id: %q is none of %s", at, f.ID, strings.Join(StreamIDs, ", "))
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

// text decodes raw into v, which must not be null.
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
	for _, name := range known {
		if string(*k) == name {
			return nil
		}
	}
	if near := Nearest(string(*k), known); near != "" {
		return fmt.Errorf("%s: no kind is called %q; did you mean %s?", at, *k, near)
	}
	return fmt.Errorf("%s: no kind is called %q; there are %s", at, *k, strings.Join(known, ", "))
}

func schema(at string, raw json.RawMessage) (json.RawMessage, error) {
	if c := raw[0]; c != '{' && c != 't' && c != 'f' {
		return nil, fmt.Errorf("%s: a schema must be an object, true or false", at)
	}
	return raw, nil
}

func extra(at string, raw json.RawMessage) (json.RawMessage, error) {
	if raw[0] != '{' {
		return nil, fmt.Errorf("%s: it must be an object", at)
	}
	return raw, nil
}

// merge adds members to an extra, whose own members stay as they are.
func merge(extra json.RawMessage, more []member) json.RawMessage {
	if len(more) == 0 {
		return extra
	}
	list, _ := members(extra)
	have := map[string]bool{}
	for _, m := range list {
		have[m.key] = true
	}
	for _, m := range more {
		if !have[m.key] {
			list = append(list, m)
		}
	}
	return object(list)
}
