package introspect

import (
	"encoding/json"
	"strconv"

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
	kind := c.texts.text(scan.Get(m.Body, "type"))
	*to = wire.Event{Final: m.Final}
	ev := event{Event: to}
	switch kind {
	case typeData:
		c.data(&ev, m.Body)
	case typeProgress:
		c.progress(&ev, m.Body)
	case typeError:
		c.failure(&ev, m.Body)
	case typeGuidance:
		c.guidance(&ev, m.Body)
	case typeDone:
		end(&ev, m.Body)
	default:
		ev.Data = m.Body
		if kind != "" && isEvent(m.Body) {
			ev.Topic = kind
		}
	}
	ev.Extra = ev.rest.EndOrNil()
	return nil
}

// An event is a wire.Event under construction.
type event struct {
	*wire.Event
	rest scan.Object
}

// isEvent reports whether an item has a member that only the protocol's events have.
func isEvent(item []byte) bool {
	return scan.Get(item, "service_hash") != nil || scan.Get(item, "provenance") != nil
}

// other processes a member that the event's type does not use: provenance becomes Source, and any other member becomes
// a member of Extra.
func other(ev *event, key, val []byte) {
	switch string(key) {
	case "type":
	case "provenance":
		ev.Source = provenance(val)
	default:
		ev.rest.CompactMember(key, val)
	}
}

// provenance returns the modules that an event has passed through: an array, or the "segments" of an object.
func provenance(val []byte) json.RawMessage {
	if segments := scan.Get(val, "segments"); scan.Type(val) == 'o' && segments != nil {
		return segments
	}
	return val
}

// data reads a data event. An event without a payload becomes data as a whole.
func (c *codec) data(ev *event, item []byte) {
	for key, val := range scan.Members(item) {
		switch string(key) {
		case "data":
			ev.Data = val
		case "content_type":
			if ev.ContentType = c.texts.text(val); ev.ContentType == "" {
				other(ev, key, val)
			}
		default:
			other(ev, key, val)
		}
	}
	if ev.Data == nil {
		ev.Data = item
	}
}

func (c *codec) progress(ev *event, item []byte) {
	ev.Kind = wire.Progress
	for key, val := range scan.Members(item) {
		took := false
		switch string(key) {
		case "message":
			ev.Message, took = scan.Text(val)
		case "percentage":
			ev.Fraction = dialect.Fraction(val)
			took = ev.Fraction != nil
		}
		if !took {
			other(ev, key, val)
		}
	}
}

// failure reads an error event. The member "recoverable" stays in Extra.
func (c *codec) failure(ev *event, item []byte) {
	ev.Kind, ev.Err = wire.Failure, &wire.Error{}
	for key, val := range scan.Members(item) {
		took := true
		switch string(key) {
		case "error":
			if took = scan.Type(val) != '0'; took {
				reason(ev.Err, val)
			}
		case "message":
			var text string
			if text, took = scan.Text(val); ev.Err.Message == "" {
				ev.Err.Message = text
			} else {
				took = false
			}
		case "code":
			if took = scan.Type(val) == 's' || scan.Type(val) == 'n'; took {
				ev.Err.Code = val
			}
		case "error_kind", "kind":
			ev.Err.Kind = c.texts.text(val)
			took = ev.Err.Kind != ""
		case "data":
			ev.Err.Data = val
		default:
			took = false
		}
		if !took {
			other(ev, key, val)
		}
	}
	if ev.Err.Message == "" && ev.Err.Code == nil {
		ev.Err.Message = "the peer reported an error without a message"
	}
	if ev.Err.Raw = item; scan.Get(item, "message") == nil { // programs that read errors expect "message"
		ev.Err.Raw = scan.Splice(item, "message", scan.AppendQuoted(nil, ev.Err.Message))
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
func (c *codec) guidance(ev *event, item []byte) {
	ev.Kind = wire.Guidance
	for key, val := range scan.Members(item) {
		took := false
		switch string(key) {
		case "error_kind":
			ev.Topic = c.texts.text(val)
			took = ev.Topic != ""
		case "action":
			ev.Action = c.texts.text(val)
			took = ev.Action != ""
		}
		if !took {
			other(ev, key, val)
		}
	}
	ev.Message = guidanceText(ev.Topic, item)
}

// end reads a done event.
func end(ev *event, item []byte) {
	ev.Kind = wire.Done
	for key, val := range scan.Members(item) {
		other(ev, key, val)
	}
}

// guidanceText returns a sentence with the reason that a guidance event gives.
func guidanceText(kind string, item []byte) string {
	text := func(key string) string {
		return scan.String(scan.Get(item, key))
	}
	module, method := text("module"), text("method")
	sentence := ""
	switch {
	case kind == "module_not_found" && module != "":
		sentence = "unknown module " + strconv.Quote(module)
	case kind == "method_not_found" && module != "":
		sentence = "the module " + module + " has no method " + strconv.Quote(method)
	case kind == "method_not_found" && method != "":
		sentence = "unknown method " + strconv.Quote(method)
	case kind == "invalid_params" && method != "":
		sentence = method + ": " + text("reason")
	default:
		sentence = text("reason")
	}
	if more := text("message"); more != "" && sentence != "" {
		return sentence + ". " + more
	} else if more != "" {
		return more
	}
	return sentence
}
