package introspect

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// Event stores the user's event for m in to. Section 2.2 of Introspective Streaming RPC lists the types of events. An item
// that is not such an event becomes data as a whole. An event of an unknown type becomes data with that type as Topic.
// Members without a field of wire.Event, such as the service hash, become members of Extra.
func (c *codec) Event(m *wire.Message, to *wire.Event) error {
	if m.Kind != wire.Item || m.Err != nil || scan.Type(m.Body) != 'o' {
		return c.Codec.Event(m, to)
	}
	kind := c.texts.of(scan.Get(m.Body, "type"))
	*to = wire.Event{Final: m.Final}
	ev := event{Event: to, item: m.Body}
	switch kind {
	case typeData:
		ev.ContentType = c.word(&ev, "content_type")
		ev.Data = scan.Or(ev.take("data", ""), m.Body) // an event without a payload becomes data as a whole
	case typeProgress:
		c.progress(&ev)
	case typeError:
		c.failure(&ev)
	case typeGuidance:
		c.guidance(&ev)
	case typeDone:
		ev.Kind = wire.Done
	default:
		ev.Data = m.Body
		if scan.Get(m.Body, "service_hash") != nil || scan.Get(m.Body, "provenance") != nil { // only the protocol's events have these
			ev.Topic = kind
		}
		return nil
	}
	ev.rest()
	return nil
}

// An event is a wire.Event under construction.
type event struct {
	*wire.Event
	item  []byte
	taken [6]string // the members that fields of the Event contain: the first n elements
	n     int
}

// take returns the value of a member if its type is one of types (see scan.Type; "" allows all), and nil otherwise. rest omits
// the member.
func (ev *event) take(name, types string) []byte {
	val := scan.Get(ev.item, name)
	if val == nil || types != "" && strings.IndexByte(types, scan.Type(val)) < 0 {
		return nil
	}
	ev.taken[ev.n] = name
	ev.n++
	return val
}

// word takes a member if it is a string with content, and returns it.
func (c *codec) word(ev *event, name string) string {
	word := c.texts.of(scan.Get(ev.item, name))
	if word != "" {
		ev.take(name, "s")
	}
	return word
}

// rest stores the members that take has not returned: provenance becomes Source, and any other member becomes a member
// of Extra.
func (ev *event) rest() {
	var rest scan.Object
	for key, val := range scan.Members(ev.item) {
		switch {
		case string(key) == "type" || slices.ContainsFunc(ev.taken[:ev.n], func(name string) bool { return scan.IsKey(key, name) }):
		case string(key) == "provenance":
			ev.Source = scan.Or(json.RawMessage(scan.Get(val, "segments")), val) // an array, or the segments of an object
		default:
			rest.CompactMember(key, val)
		}
	}
	ev.Extra = rest.EndOrNil()
}

func (c *codec) progress(ev *event) {
	ev.Kind, ev.Message = wire.Progress, scan.String(ev.take("message", "s"))
	if ev.Fraction = dialect.Fraction(scan.Get(ev.item, "percentage")); ev.Fraction != nil {
		ev.take("percentage", "")
	}
}

// failure reads an error event. The member "recoverable" stays in Extra.
func (c *codec) failure(ev *event) {
	e := &wire.Error{}
	ev.Kind, ev.Err = wire.Failure, e
	if val := ev.take("error", "soantf"); val != nil {
		reason(e, val)
	}
	if e.Message == "" {
		e.Message = scan.String(ev.take("message", "s"))
	}
	e.Code = scan.Or(ev.take("code", "sn"), e.Code)
	e.Kind = cmp.Or(c.word(ev, "error_kind"), c.word(ev, "kind"))
	e.Data = scan.Or(ev.take("data", ""), e.Data)
	if e.Message == "" && e.Code == nil {
		e.Message = "the peer reported an error without a message"
	}
	if e.Raw = ev.item; scan.Get(ev.item, "message") == nil { // programs that read errors expect "message"
		e.Raw = scan.Splice(ev.item, "message", scan.AppendQuoted(nil, e.Message))
	}
}

// reason reads the member "error": a string or an error object.
func reason(e *wire.Error, val []byte) {
	if text, ok := scan.Text(val); ok {
		e.Message = text
		return
	}
	if scan.Type(val) != 'o' {
		e.Message = string(scan.Compact(nil, val))
		return
	}
	e.Message, _ = scan.Text(scan.Get(val, "message"))
	if code := scan.Get(val, "code"); scan.Type(code) == 's' || scan.Type(code) == 'n' {
		e.Code = code
	}
	e.Data = scan.Get(val, "data")
	if e.Message == "" {
		e.Message = string(scan.Compact(nil, val))
	}
}

// guidance reads a guidance event. The kind of error becomes Topic. Extra contains the subject and the suggestion.
func (c *codec) guidance(ev *event) {
	ev.Kind = wire.Guidance
	ev.Topic, ev.Action = c.word(ev, "error_kind"), c.word(ev, "action")
	ev.Message = guidanceText(ev.Topic, ev.item)
}

// guidanceText returns a sentence with the reason that a guidance event gives.
func guidanceText(kind string, item []byte) string {
	text := func(key string) string {
		return scan.String(scan.Get(item, key))
	}
	module, method := text("module"), text("method")
	sentence := text("reason")
	switch {
	case kind == "module_not_found" && module != "":
		sentence = "unknown module " + strconv.Quote(module)
	case kind == "method_not_found" && module != "":
		sentence = "the module " + module + " has no method " + strconv.Quote(method)
	case kind == "method_not_found" && method != "":
		sentence = "unknown method " + strconv.Quote(method)
	case kind == "invalid_params" && method != "":
		sentence = method + ": " + sentence
	}
	if more := text("message"); more != "" && sentence != "" {
		return sentence + ". " + more
	}
	return cmp.Or(sentence, text("message"))
}
