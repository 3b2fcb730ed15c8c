package relay

import (
	"bytes"
	"encoding/json"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/scan"
)

// The values that nearly every call through a session sends and gets are encoded and decoded by
// hand here: encoding/json would first examine their types by reflection, which takes longer than
// the rest of the conversation. Unusual values are left to encoding/json.

// json encodes an operation.
func (op wireOp) json() json.RawMessage {
	if op.Funcs != nil || op.Known != nil {
		return scan.JSON(op)
	}
	o := scan.AppendObject(make([]byte, 0, 128+len(op.Params)))
	o.Text("op", op.Op)
	o.SomeText("method", op.Method)
	o.Add("params", scan.Minify(nil, op.Params))
	o.SomeText("code", op.Code)
	o.SomeText("job", op.Job)
	o.SomeText("unsubscribe", op.Unsubscribe)
	o.Add("unsubscribe_params", scan.Minify(nil, op.With))
	if op.Lasting {
		o.Bool("lasting", true)
	}
	o.SomeText("beside", op.Beside)
	o.Add("extra", scan.Minify(nil, op.Extra))
	if op.Since != nil {
		o.Int("since", *op.Since)
	}
	o.SomeText("hook", op.Hook)
	if op.Nested {
		o.Bool("nested", true)
	}
	return o.End()
}

// helloOf decodes what a session says of itself.
func helloOf(raw json.RawMessage) (h Hello, err error) {
	usual := len(raw) > 0 && raw[0] == '{'
	for key, val := range scan.Members(raw) {
		ok := true
		switch string(key) {
		case "version":
			h.Version, ok = scan.Text(val)
		case "dialect":
			h.Dialect, ok = scan.Text(val)
		case "endpoint":
			h.Endpoint, ok = scan.Text(val)
		case "session":
			h.Session, ok = scan.Text(val)
		case "fingerprint":
			h.Fingerprint, ok = scan.Text(val)
		case "answers":
			h.Answers, ok = sourceOf(val)
		default:
			ok = false
		}
		usual = usual && ok
	}
	if !usual {
		h = Hello{}
		err = json.Unmarshal(raw, &h)
	}
	return h, err
}

// sourceOf decodes the source of answers; false if it is not the usual one.
func sourceOf(raw []byte) (s cache.Source, ok bool) {
	ok = len(raw) > 0 && raw[0] == '{'
	for key, val := range scan.Members(raw) {
		usual := false
		switch string(key) {
		case "of":
			s.Of, usual = scan.Text(val)
		case "private":
			s.Private, usual = boolOf(val)
		}
		ok = ok && usual
	}
	return s, ok
}

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
