package relay

import (
	"bytes"
	"encoding/json"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// The items of streams are decoded by hand here, which takes a fraction of the time that encoding/json needs. Unusual
// ones are left to encoding/json.

// packedOf decodes an item.
func packedOf(raw json.RawMessage) (p packed, err error) {
	usual := len(raw) > 0 && raw[0] == '{'
	for key, val := range scan.Members(raw) {
		ok := false
		switch string(key) {
		case "kind":
			n, err := strconv.ParseUint(string(val), 10, 8)
			p.Kind, ok = wire.Kind(n), err == nil
		case "final":
			p.Final, ok = boolOf(val)
		case "method":
			p.Method, ok = scan.Text(val)
		case "at":
			p.At, ok = placeOf(val)
		case "msg":
			p.Msg, ok = bytes.Clone(val), true
		case "text":
			var text string
			text, ok = scan.Text(val)
			p.Text = &text
		}
		if usual = usual && ok; !usual {
			break
		}
	}
	if !usual {
		p = packed{}
		err = json.Unmarshal(raw, &p)
	}
	return p, err
}

// placeOf decodes two numbers.
func placeOf(val []byte) ([]int, bool) {
	inside, ok := bytes.CutPrefix(val, []byte("["))
	inside, closed := bytes.CutSuffix(inside, []byte("]"))
	from, to, two := bytes.Cut(inside, []byte(","))
	a, err := strconv.Atoi(string(from))
	b, err2 := strconv.Atoi(string(to))
	return []int{a, b}, ok && closed && two && err == nil && err2 == nil
}

func boolOf(val []byte) (v, ok bool) {
	v = string(val) == "true"
	return v, v || string(val) == "false"
}
