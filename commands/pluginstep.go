package commands

import (
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// call makes the operation of a step; results are those of the steps before it.
func (s *step) call(results map[string]json.RawMessage) (pluginCall, error) {
	method := map[string]string{"call": "function.call", "new": "object.new", "destroy": "object.destroy"}[s.verb]
	b := []byte{'{'}
	put := func(key, text string) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = scan.AppendQuoted(append(scan.AppendQuoted(b, key), ':'), text)
	}
	switch s.verb {
	case "call":
		put("name", s.name)
	case "new":
		put("class", s.name)
	default:
		put("object_id", s.object(results))
		if s.verb != "destroy" {
			method = "object.call_method"
			put("method", s.name)
		}
	}
	result := func(name string) (json.RawMessage, error) { return results[name], nil }
	for _, part := range []struct {
		key string
		val json.RawMessage
	}{{"args", s.args}, {"kwargs", s.kwargs}} {
		if part.val == nil {
			continue
		}
		b = append(scan.AppendQuoted(append(b, ','), part.key), ':')
		var err error
		if b, err = s.replace(b, part.val, "/"+part.key, result); err != nil {
			return pluginCall{}, err
		}
	}
	name := s.name
	if name == "" {
		name = s.verb
	}
	return pluginCall{
		op:   dialect.Op{Kind: dialect.Call, Method: method, Params: append(b, '}'), Funcs: s.funcs},
		name: name,
	}, nil
}

// object is the id of the object that a step is about.
func (s *step) object(results map[string]json.RawMessage) string {
	if name, ok := scan.Text(s.on); ok {
		return objectID(string(results[name]))
	}
	if name, ok := scan.Text(scan.Get(s.on, "$step")); ok {
		return objectID(string(results[name]))
	}
	return objectID(string(s.on))
}

// replace appends val with the results of other steps in the places of
// {"$step":NAME}, and null in those of {"$on":NAME}, which it notes.
func (s *step) replace(b, val []byte, pointer string, result func(name string) (json.RawMessage, error)) ([]byte, error) {
	switch scan.Type(val) {
	case 'o':
		if name, ok := soleText(val, "$step"); ok {
			v, err := result(name)
			return append(b, v...), err
		}
		if name, ok := soleText(val, "$on"); ok {
			s.funcs[pointer] = name
			return append(b, "null"...), nil
		}
	case 'a':
	default:
		return append(b, val...), nil
	}
	return scan.Rebuild(b, val, wire.DefaultMaxDepth, func(b []byte, i int, key, v []byte) ([]byte, error) {
		return s.replace(b, v, scan.Below(pointer, i, key), result)
	})
}

// soleText is the text of the member key, where it is obj's only one.
func soleText(obj []byte, key string) (string, bool) {
	m := scan.Object(obj, wire.DefaultMaxDepth)
	k, v, ok := m.Next()
	if !ok || !scan.IsKey(k, key) {
		return "", false
	}
	if _, _, more := m.Next(); more {
		return "", false
	}
	return scan.Text(v)
}
