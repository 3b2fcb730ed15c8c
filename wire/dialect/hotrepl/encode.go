package hotrepl

import (
	"encoding/json"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A builder writes one message, or an object inside one, member by member. Each
// method returns it with one more member.
type builder []byte

// build begins a message of that type, or with "" an object without a type.
func build(kind string) builder {
	if kind == "" {
		return builder{'{'}
	}
	return builder(text([]byte{'{'}, "type", kind))
}

func (b builder) end() json.RawMessage               { return append(json.RawMessage(b), '}') }
func (b builder) raw(key string, val []byte) builder { return builder(member(b, key, val)) }
func (b builder) text(key, val string) builder       { return builder(text(b, key, val)) }
func (b builder) id(id wire.ID) builder              { return b.raw("id", id) }
func (b builder) int(key string, n int) builder {
	return b.raw(key, strconv.AppendInt(nil, int64(n), 10))
}

func (b builder) bool(key string, yes bool) builder { return b.raw(key, strconv.AppendBool(nil, yes)) }

func (b builder) duration(begun time.Time) builder {
	return b.int("durationMs", int(time.Since(begun)/time.Millisecond))
}

// value adds what an evaluation gave: hasValue, value and valueType.
func (b builder) value(val json.RawMessage) builder {
	return b.bool("hasValue", true).raw("value", val).text("valueType", valueTypes[scan.Type(val)])
}

// valueTypes are the names of JSON's types, by scan.Type's letters.
var valueTypes = map[byte]string{
	'o': "object", 'a': "array", 's': "string", 'n': "number", 't': "boolean", 'f': "boolean", '0': "null",
}
