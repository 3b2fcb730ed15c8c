package codec

import (
	"encoding/json"
	"fmt"
)

// trace reports to the trace of messages what a program has made of one.
func (c *Codec) trace(format string, args ...any) {
	if c.o.Trace == nil {
		return
	}
	for i := range args {
		if b, ok := args[i].(json.RawMessage); ok {
			args[i] = shown(b)
		}
	}
	c.o.Trace(c.d.Page.Name + ": " + fmt.Sprintf(format, args...))
}

// shown returns the beginning of a value.
func shown(val []byte) string {
	const most = 500
	if len(val) > most {
		return string(val[:most]) + "…"
	}
	return string(val)
}
