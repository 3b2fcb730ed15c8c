package format

import (
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// row is a line of stderr as --errors json has it: an object of one member, which says what kind of line it is.
func row(name string, val json.RawMessage) string {
	var o scan.Object
	o.Add(name, val)
	return string(o.End()) + "\n"
}

// row writes a line as JSON. A terminal gets no escapes that are in it.
func (c *Console) row(name string, val json.RawMessage) {
	line := row(name, val)
	if c.o.Terminal {
		line = string(look{escape: true}.append(nil, []byte(line[:len(line)-1]))) + "\n"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	c.write(line)
}

// eventRow is an event without its kind, which the member that holds it says.
func eventRow(ev wire.Event) json.RawMessage {
	var o scan.Object
	o.Members(ev.AppendJSON(nil), "event")
	return o.End()
}
