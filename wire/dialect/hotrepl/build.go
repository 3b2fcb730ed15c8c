package hotrepl

import (
	"encoding/json"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A builder writes one message of the host, member by member.
type builder []byte

// build begins a message of that type; "" an object without one.
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

func (b builder) took(begun time.Time) builder {
	return b.int("durationMs", int(time.Since(begun)/time.Millisecond))
}

// value is what an evaluation gave, with its type.
func (b builder) value(val json.RawMessage) builder {
	return b.bool("hasValue", true).raw("value", val).text("valueType", valueTypes[scan.Type(val)])
}

// valueTypes are the types of JSON, as scan.Type tells them.
var valueTypes = map[byte]string{
	'o': "object", 'a': "array", 's': "string", 'n': "number", 't': "boolean", 'f': "boolean", '0': "null",
}
