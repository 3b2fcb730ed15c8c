package scriptling

import (
	"fmt"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// checkedDepth is the nesting limit for values whose depth other code checks: the framing and Decode check incoming
// values, and request.encode checks outgoing values.
const checkedDepth = 1 << 16

// An encoder converts plain JSON to transport Values.
type encoder struct {
	// function returns the id of a callback if the user passed a function at that JSON pointer, and "" otherwise.
	// function may be nil.
	function func(pointer string) string
}

// value appends the transport Value of val, valid JSON at pointer.
func (e encoder) value(b, val []byte, pointer string) ([]byte, error) {
	if e.function != nil {
		if id := e.function(pointer); id != "" {
			return appendCallback(b, id), nil
		}
	}
	switch scan.Type(val) {
	case '0':
		return append(b, `{"type":"null"}`...), nil
	case 't', 'f':
		return scalar(b, "bool", val), nil
	case 's':
		return scalar(b, "string", val), nil
	case 'n':
		if strings.ContainsAny(string(val), ".eE") {
			return scalar(b, "float", val), nil
		}
		return scalar(b, "int", val), nil
	case 'a':
		return e.container(b, "list", "items", val, pointer)
	}
	return e.object(b, val, pointer)
}

// parts appends val, an array or object, with each element or member as a Value.
func (e encoder) parts(b, val []byte, pointer string) ([]byte, error) {
	return scan.Rebuild(b, val, checkedDepth, func(b []byte, i int, key, v []byte) ([]byte, error) {
		at := "" // the pointer is needed only to find functions
		if e.function != nil {
			at = scan.Descend(pointer, i, key)
		}
		return e.value(b, v, at)
	})
}

// object appends the Value of an object: a dict, or the value of its only key (see value.go).
func (e encoder) object(b, val []byte, pointer string) ([]byte, error) {
	switch key, v := soleKey(val); key {
	case callbackKey:
		id, ok := scan.Text(v)
		if !ok {
			return nil, doubt(key, "a string")
		}
		return appendCallback(b, id), nil
	case remoteKey:
		r, ok := readRef(v)
		if !ok {
			return nil, doubt(key, `an object with the string members "library", "class" and "id"`)
		}
		return transport(b, "remote", "remote", r.append(nil)), nil
	}
	return e.container(b, "dict", "entries", val, pointer)
}

// container appends a Value of type kind with the elements or members of val as Values in member.
func (e encoder) container(b []byte, kind, member string, val []byte, pointer string) ([]byte, error) {
	o := scan.AppendObject(b)
	o.Text("type", kind)
	err := o.Append(member, func(b []byte) ([]byte, error) { return e.parts(b, val, pointer) })
	if err != nil {
		return nil, err
	}
	return o.End(), nil
}

func doubt(key, what string) error {
	return wire.NewFault(wire.Usage, fmt.Sprintf("an object whose only key is %q is not a dict, and its value is not %s", key, what), nil).
		WithHint("to send a dict with that key, give a transport value with --values")
}

// soleKey returns the only key of an object and its value, or "" for other objects.
func soleKey(obj []byte) (string, []byte) {
	for key, v := range scan.Members(obj) {
		if len(key) == 0 || key[0] != '$' || scan.Count(obj) != 1 {
			break
		}
		return scan.Key(key), v
	}
	return "", nil
}

func scalar(b []byte, kind string, val []byte) []byte {
	return transport(b, kind, "value", val)
}

func appendCallback(b []byte, id string) []byte {
	return transport(b, "callback", "callback", scan.Pair("id", scan.AppendQuoted(nil, id)))
}

// transport appends a Value of type kind with one member.
func transport(b []byte, kind, member string, val []byte) []byte {
	o := scan.AppendObject(b)
	o.Text("type", kind)
	o.Add(member, val)
	return o.End()
}
