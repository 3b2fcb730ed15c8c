package ro

import (
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
)

// Decode finds the messages in raw: JSON-RPC's, with async results as items of
// the calls that they belong to.
func (c *codec) Decode(raw []byte) ([]wire.Message, bool, error) {
	msgs, batch, err := c.Codec.Decode(raw)
	c.out = c.out[:0]
	for i := range msgs {
		m := msgs[i]
		switch m.Kind {
		case wire.Notification:
			c.result(&m)
		case wire.Response:
			if !c.response(&m) {
				continue
			}
		}
		c.out = append(c.out, m)
	}
	return c.out, batch, err
}

// response follows what an answer does to a call of ours. keep is false for one
// that comes after the call's return.
func (c *codec) response(m *wire.Message) (keep bool) {
	k := c.calls[string(m.ID)]
	switch {
	case k == nil && c.over.has(m.ID):
		return false
	case k == nil:
		c.answerless(m)
		return true
	case m.Err == nil && goesOn(k.kind, m.Body):
		k.later = true
		c.note(string(m.ID), c.name(string(m.ID), k, m), k, m)
		return true
	}
	c.forget(string(m.ID))
	m.Final = true
	if k.later { // the last word after all, for whoever follows it
		m.Kind = wire.Item
		c.note(string(m.ID), "", k, m)
	}
	return true
}

// answerless makes of a result with an id of none of our calls, but with a
// reserved verb, the request that it can only be: one to be refused.
func (c *codec) answerless(m *wire.Message) {
	f := readFields(m.Raw)
	method, ok := scan.Text(f.method)
	if !ok || m.ID == nil || !reserved(dotted(method).Verb) {
		return
	}
	*m = wire.Message{Kind: wire.Request, ID: m.ID, Method: method, Raw: m.Raw}
}

// goesOn says that an answer is only the beginning: further results come.
func goesOn(kind dialect.OpKind, body []byte) bool {
	switch status(body) {
	case "accepted", "pending":
		return true
	case "done", "error":
		return false
	}
	if kind != dialect.Subscribe {
		return false
	}
	switch scan.Type(body) { // an acknowledgement
	case 't', '0':
		return true
	case 'o':
		m := scan.Object(body, 2*wire.DefaultMaxDepth)
		_, _, some := m.Next()
		return !some
	}
	return false
}

// status is the status that a result says; "" where it says none.
func status(body []byte) string {
	if scan.Type(body) != 'o' {
		return ""
	}
	text, _ := scan.Text(scan.Get(body, "status"))
	return text
}

// name notes which further results are the call's: those with the target that
// the answer names, else those of the target that the request was about. It
// returns that target.
func (c *codec) name(id string, k *call, m *wire.Message) string {
	resource, target := namedIn(m.Raw, m.Body)
	place := target
	switch {
	case target == "":
		place = k.own
		_, target, _ = strings.Cut(k.own, "\x00")
	case resource != "":
		place = placeOf(resource, target)
	}
	if place != "" {
		k.named = append(k.named, place)
		c.places[place] = id
	}
	return target
}

// namedIn is the job that an answer names: beside the result, or in it as
// target, job, job_id or id (a job may be an object with an id of its own).
func namedIn(raw, body []byte) (resource, target string) {
	for _, obj := range [][]byte{raw, body} {
		resource, _ = scan.Text(scan.Get(obj, "resource"))
		if text, ok := targetText(scan.Get(obj, "target")); ok && text != "" {
			return resource, text
		}
	}
	for _, member := range []string{"job", "job_id", "jobId", "id"} {
		val := scan.Get(body, member)
		if scan.Type(val) == 'o' {
			if _, text := namedIn(nil, val); text != "" {
				return "", text
			}
		}
		if text, ok := targetText(val); ok && text != "" {
			return "", text
		}
	}
	return "", ""
}

// result makes an item of a notification that carries an async result.
func (c *codec) result(m *wire.Message) {
	verb := m.Method[strings.LastIndexByte(m.Method, '.')+1:]
	if !reserved(verb) {
		return
	}
	f := readFields(m.Raw)
	if f.result == nil && f.err == nil {
		if f.params != nil || f.target == nil && f.requestID == nil {
			return
		}
		f.result = []byte("null") // JavaScript leaves out what is undefined
	}
	resource := strings.TrimSuffix(strings.TrimSuffix(m.Method, verb), ".")
	target, _ := targetText(f.target)
	m.Kind, m.Body, m.Params = wire.Item, f.result, nil
	if f.err != nil {
		m.Body = nil
		m.Err = jsonrpc.ReadError(f.err)
	}
	m.Final = verb == verbReturn || m.Err != nil || status(m.Body) == "error"
	place := placeOf(resource, target)
	if target != "" {
		m.Stream = wire.ID(place)
	}
	c.claim(m, f.requestID, place, target)
}

// claim gives an item to the call that it belongs to: by request_id, else by
// what the call's answer named.
func (c *codec) claim(m *wire.Message, requestID []byte, place, target string) {
	id := string(requestID)
	if c.calls[id] == nil && target != "" {
		id = c.places[place]
		if id == "" {
			id = c.places[target]
		}
	}
	if c.calls[id] == nil {
		if target != "" && len(c.calls) > 0 {
			c.seen.add(place)
		}
		return
	}
	m.ID = wire.ID(id)
	c.calls[id].later = true
	c.note(id, target, c.calls[id], m)
	if m.Final {
		c.forget(id)
		c.over.add(id)
	}
}

// note takes down what m says of a call whose results come later.
func (c *codec) note(id, target string, k *call, m *wire.Message) {
	dropped := c.jobs.note(id, target, k.method, m)
	if old := c.calls[dropped]; old != nil && old.left {
		c.forget(dropped)
	}
}

// leave forgets a call that nobody reads any more, unless its results come
// later: then it is a job, which goes on.
func (c *codec) leave(id string) {
	k := c.calls[id]
	if k == nil || !k.later || k.kind != dialect.Call {
		c.forget(id)
		return
	}
	k.left = true
}

// forget drops what is known of a call.
func (c *codec) forget(id string) {
	k := c.calls[id]
	if k == nil {
		return
	}
	for _, place := range k.named {
		if c.places[place] == id {
			delete(c.places, place)
		}
	}
	delete(c.calls, id)
}

// Opened says whether a call goes on after its first answer, and where results
// that came before the answer named their target are to be found.
func (c *codec) Opened(op dialect.Op, resp wire.Message) (stream wire.ID, final bool) {
	k := c.calls[string(resp.ID)]
	if k == nil || !goesOn(op.Kind, resp.Body) {
		return nil, true
	}
	for _, place := range k.named {
		if c.seen.has([]byte(place)) {
			return wire.ID(place), false
		}
		if early, ok := c.seen.ending(place); ok {
			return wire.ID(early), false
		}
	}
	return nil, false
}

// recentMost is how many keys a recent remembers.
const recentMost = 128

// recent remembers the last keys that were added.
type recent struct {
	keys []string
	next int
}

func (r *recent) add(key string) {
	switch {
	case len(key) > 1<<10 || r.has([]byte(key)):
	case len(r.keys) < recentMost:
		r.keys = append(r.keys, key)
	default:
		r.keys[r.next] = key
		r.next = (r.next + 1) % recentMost
	}
}

func (r *recent) has(key []byte) bool {
	for _, k := range r.keys {
		if k == string(key) {
			return true
		}
	}
	return false
}

// ending finds a place with that target.
func (r *recent) ending(target string) (string, bool) {
	for _, k := range r.keys {
		if strings.HasSuffix(k, "\x00"+target) {
			return k, true
		}
	}
	return "", false
}
