package ro

import (
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
)

// Decode returns the messages in raw. Async results, which are notifications on the wire, become items of their calls.
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

// response determines whether a response ends its local call or announces further results. keep is false for a response
// that arrives after the call's return; Decode drops it.
func (c *codec) response(m *wire.Message) (keep bool) {
	id := string(m.ID.Key())
	k := c.calls[id]
	switch {
	case k == nil && c.finished.has(id):
		return false
	case k == nil:
		c.answerless(m)
		return true
	case m.Err == nil && hasMoreResults(k.kind, k.job, m.Body):
		k.deferred = true
		c.note(id, c.name(id, k, m), k, m)
		return true
	}
	c.forget(id)
	m.Final = true
	if k.deferred { // this response ends the job, whose followers read items
		m.Kind = wire.Item
		c.note(id, "", k, m)
	}
	return true
}

// answerless turns a message with an unknown id, a result and a reserved verb into a request. Such a message is an
// incorrect request, which rpcx must reject.
func (c *codec) answerless(m *wire.Message) {
	f := readFields(m.Raw)
	method, ok := scan.Text(f[fieldMethod])
	if !ok || m.ID == nil || !reserved(dotted(method).Verb) {
		return
	}
	*m = wire.Message{Kind: wire.Request, ID: m.ID, Method: method, Raw: m.Raw}
}

// name records which further results belong to the call: those with the target in the response or, without one, in the
// request. It returns that target.
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

// namedIn returns the job that a response names: the target beside the result, or the member target, job, job_id, jobId
// or id of the result. A job can be an object with an id. resource is the member beside a target, or "".
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

// result turns a notification with an async result into an item.
func (c *codec) result(m *wire.Message) {
	verb := m.Method[strings.LastIndexByte(m.Method, '.')+1:]
	if !reserved(verb) {
		return
	}
	f := readFields(m.Raw)
	if f[fieldResult] == nil && f[fieldError] == nil {
		if f[fieldParams] != nil || f[fieldTarget] == nil && f[fieldRequestID] == nil {
			return
		}
		f[fieldResult] = []byte("null") // JavaScript's JSON.stringify omits an undefined result
	}
	resource := strings.TrimSuffix(strings.TrimSuffix(m.Method, verb), ".")
	target, _ := targetText(f[fieldTarget])
	m.Kind, m.Body, m.Params = wire.Item, f[fieldResult], nil
	if f[fieldError] != nil {
		m.Body = nil
		m.Err = jsonrpc.ReadError(f[fieldError])
	}
	m.Final = verb == verbReturn || m.Err != nil || status(m.Body) == "error"
	place := placeOf(resource, target)
	if target != "" {
		m.Stream = wire.ID(place)
	}
	c.claim(m, f[fieldRequestID], place, target)
}

// claim assigns an item to its call, by request_id or by a place or target that belongs to the call (see codec.name).
func (c *codec) claim(m *wire.Message, requestID []byte, place, target string) {
	id := string(scan.Canonical(requestID))
	if c.calls[id] == nil && target != "" {
		id = c.places[place]
		if id == "" {
			id = c.places[target]
		}
	}
	if c.calls[id] == nil {
		if target != "" && len(c.calls) > 0 {
			c.unclaimed.add(place)
		}
		return
	}
	m.ID = wire.ID(id)
	c.calls[id].deferred = true
	c.note(id, target, c.calls[id], m)
	if m.Final {
		c.forget(id)
		c.finished.add(id)
	}
}

// note stores a message of a call with later results. To make room, it may remove an older job.
func (c *codec) note(id, target string, k *call, m *wire.Message) {
	dropped := c.jobs.note(id, target, k.method, m)
	if old := c.calls[dropped]; old != nil && old.released {
		c.forget(dropped)
	}
}

// leave removes a cancelled call, unless the call has later results. Such a call is a job, and its status remains
// available.
func (c *codec) leave(id string) {
	k := c.calls[id]
	if k == nil || !k.deferred || k.kind != dialect.Call {
		c.forget(id)
		return
	}
	k.released = true
}

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

// Opened reports whether the first response ends the call. If the call continues, and results arrived before the
// response, stream is their place.
func (c *codec) Opened(op dialect.Op, resp wire.Message) (stream wire.ID, final bool) {
	k := c.calls[string(resp.ID.Key())]
	if k == nil || !hasMoreResults(op.Kind, k.job, resp.Body) {
		return nil, true
	}
	for _, place := range k.named {
		target := "\x00" + place // place may be a target with any resource
		for _, early := range c.unclaimed.keys {
			if early == place || strings.HasSuffix(early, target) {
				return wire.ID(early), false
			}
		}
	}
	return nil, false
}

// maxRecent bounds the keys in a recent, because the peer determines their number.
const maxRecent = 128

// recent is a set of the last maxRecent added keys.
type recent struct {
	keys []string
	next int
}

func (r *recent) add(key string) {
	switch {
	case len(key) > 1<<10 || r.has(key):
	case len(r.keys) < maxRecent:
		r.keys = append(r.keys, key)
	default:
		r.keys[r.next] = key
		r.next = (r.next + 1) % maxRecent
	}
}

func (r *recent) has(key string) bool { return slices.Contains(r.keys, key) }
