package catalog

import (
	"bytes"
	"encoding/json"
)

// A member is one member of an object, as it stands there.
type member struct {
	key   string
	value json.RawMessage
}

// members lists the members of an object in order; ok is false where raw is no
// object.
func members(raw json.RawMessage) (list []member, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, false
		}
		m := member{key: t.(string)}
		if dec.Decode(&m.value) != nil {
			return nil, false
		}
		list = append(list, m)
	}
	return list, true
}

// object makes an object of members.
func object(list []member) json.RawMessage {
	b := []byte{'{'}
	for i, m := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, m.key), ':')
		b = append(b, m.value...)
	}
	return append(b, '}')
}

func appendText(b []byte, s string) []byte {
	q, _ := marshal(s)
	return append(b, q...)
}

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// Keys lists the names of an object's members in their order; nil where obj is
// no object.
func Keys(obj json.RawMessage) []string {
	list, _ := members(obj)
	var keys []string
	for _, m := range list {
		keys = append(keys, m.key)
	}
	return keys
}

// get is the value of the member key; nil where there is none.
func get(obj json.RawMessage, key string) json.RawMessage {
	list, _ := members(obj)
	for _, m := range list {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// elements lists the elements of an array; nil where raw is no array.
func elements(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}
