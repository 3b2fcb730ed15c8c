package ro

import (
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Reply returns the messages for one event of the answer to req. An event with a Stream becomes an async result, or a
// return if it is Final, with the members of Extra beside its result. For other events, Extra has the members beside
// the result of the response.
func (c *codec) Reply(req wire.Message, ev wire.Event) ([][]byte, error) {
	if ev.Stream != nil {
		return [][]byte{encodeAsyncResult(ev)}, nil
	}
	msgs, err := c.Codec.Reply(req, ev)
	if err == nil && len(msgs) == 1 && ev.Kind == wire.Data {
		msgs[0] = beside(msgs[0], ev.Extra)
	}
	return msgs, err
}

// beside adds the members of extra to a message.
func beside(msg []byte, extra json.RawMessage) []byte {
	if scan.Type(extra) != 'o' || len(extra) <= 2 {
		return msg
	}
	msg = append(msg[:len(msg)-1], ',')
	return append(scan.Compact(msg, extra[1:len(extra)-1]), '}')
}

// encodeAsyncResult writes a yield or a return.
func encodeAsyncResult(ev wire.Event) []byte {
	verb := verbYield
	if ev.Final {
		verb = verbReturn
	}
	resource, _ := scan.Text(scan.Get(ev.Extra, "resource"))
	var o scan.Object
	o.Text("jsonrpc", "2.0")
	o.Text("method", resource+"."+verb)
	o.Text("resource", resource)
	o.Text("verb", verb)
	o.Compact("target", scan.Get(ev.Extra, "target"))
	o.Compact("result", ev.Data)
	o.Compact("request_id", scan.Get(ev.Extra, "request_id"))
	return o.End()
}
