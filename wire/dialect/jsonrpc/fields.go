package jsonrpc

import "rpcx/wire/scan"

// fields are the relevant members of a message, unchanged, or nil. If a member is repeated, the last one counts.
type fields struct {
	version, id, method, params, result, err, text []byte
	// If params is an object, its relevant members follow.
	stream, item, itemErr, target []byte
	done                          bool
}

// read splits the object at raw[i].
func (f *fields) read(raw []byte, i, depth int) (end int, err error) {
	o := scan.ReadObjectAt(raw, i, depth)
	for key, ok := o.NextKey(); ok; key, ok = o.NextKey() {
		if !f.member(key, &o) && !f.member(scan.Unescaped(key), &o) {
			o.Value()
		}
	}
	return o.Pos(), o.Err()
}

// member reads the value of a relevant member. It returns false for other members, whose value it does not read.
func (f *fields) member(name []byte, o *scan.Cursor) bool {
	switch string(name) {
	case "params":
		f.params = f.readParams(o)
	case "method":
		f.method = o.Value()
	case "id":
		f.id = o.Value()
	case "result":
		f.result = o.Value()
	case "jsonrpc":
		f.version = o.Value()
	case "error":
		f.err = o.Value()
	case "message":
		f.text = o.Value()
	default:
		return false
	}
	return true
}

// readParams reads the value of params and the parts of an item in it.
func (f *fields) readParams(o *scan.Cursor) []byte {
	f.stream, f.item, f.itemErr, f.target, f.done = nil, nil, nil, nil, false
	in, ok := o.Object()
	if !ok {
		return o.Value()
	}
	for key, ok := in.NextKey(); ok; key, ok = in.NextKey() {
		if !f.param(key, &in) && !f.param(scan.Unescaped(key), &in) {
			in.Value()
		}
	}
	return o.Skip(&in)
}

// param is like member, but for the members of params.
func (f *fields) param(name []byte, o *scan.Cursor) bool {
	switch string(name) {
	case "subscription", "subscription_id", "subscriptionId":
		f.stream = o.Value()
	case "result":
		f.item = o.Value()
	case "error":
		f.itemErr = o.Value()
	case "done":
		f.done = string(o.Value()) == "true"
	case "id":
		f.target = o.Value()
	default:
		return false
	}
	return true
}
