package hotrepl

import (
	"encoding/json"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A builder writes one message, or an object inside one, member by member. Each
// method returns it with one more member.
type builder struct{ o scan.Object }

// build begins a message of that type, or with "" an object without a type.
func build(kind string) builder {
	var b builder
	b.o.SomeText("type", kind)
	return b
}

func (b builder) end() json.RawMessage { return b.o.End() }

func (b builder) raw(key string, val []byte) builder {
	b.o.Compact(key, val)
	return b
}

func (b builder) text(key, val string) builder {
	b.o.Text(key, val)
	return b
}

func (b builder) id(id wire.ID) builder { return b.raw("id", id) }

func (b builder) int(key string, n int) builder {
	b.o.Int(key, int64(n))
	return b
}

func (b builder) bool(key string, yes bool) builder {
	b.o.Bool(key, yes)
	return b
}

func (b builder) duration(begun time.Time) builder {
	return b.int("durationMs", int(time.Since(begun)/time.Millisecond))
}

// value adds the result of an evaluation: hasValue, value and valueType. Of code that has no value, nil, only the first
// is there, and false.
func (b builder) value(val json.RawMessage) builder {
	if val == nil {
		return b.bool("hasValue", false)
	}
	return b.bool("hasValue", true).raw("value", val).text("valueType", valueTypes[scan.Type(val)])
}

// valueTypes are the names of JSON's types, by scan.Type's letters.
var valueTypes = map[byte]string{
	'o': "object", 'a': "array", 's': "string", 'n': "number", 't': "boolean", 'f': "boolean", '0': "null",
}
