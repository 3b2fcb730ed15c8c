package hotrepl

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Event sets ev to the user's event for m. Members without a field of wire.Event become members of Extra. An accepted or
// running job is progress with its id as Job.
func (c *codec) Event(m *wire.Message, ev *wire.Event) error {
	switch {
	case m.Event != nil:
		*ev = *m.Event
		return nil
	case m.Kind == wire.Item, m.Kind == wire.Response:
	case m.Method == typeReload:
		*ev = reloadEvent(m.Raw)
		return nil
	default: // a message that belongs to no call
		*ev = wire.Event{Kind: wire.Data, Data: m.Raw}
		return nil
	}
	*ev = wire.Event{Final: m.Final, Data: m.Body, Seq: scan.Get(m.Raw, "seq"), Job: scan.Get(m.Raw, "jobId")}
	if m.Err != nil {
		ev.Kind, ev.Err, ev.Data = wire.Failure, m.Err, nil
		ev.Extra = beside(m.Raw, "error")
		if m.Kind == wire.Item && !m.Final {
			ev.Extra = scan.Splice(scan.Or(ev.Extra, []byte("{}")), "recoverable", []byte("true"))
		}
		return nil
	}
	ev.Extra = beside(m.Raw, bodies[m.Method])
	switch m.Method {
	case typeEvalResult, typeTick:
		switch {
		case m.Body != nil:
		case m.Kind == wire.Item && !m.Final: // an item without a value is not data
			ev.Kind, ev.Message = wire.Progress, "no value"
		default:
			ev.Kind = wire.Done
		}
	case typeJobAccepted, typeStatusResult:
		progressEvent(ev, m.Body)
	case typeJobCancelResult:
		ev.Data, ev.Extra = ev.Extra, nil
	}
	return nil
}

// reloadEvent returns an assembly_reload as a log event.
func reloadEvent(raw []byte) wire.Event {
	message := cmp.Or(scan.String(scan.Get(raw, "message")), typeReload)
	return wire.Event{Kind: wire.Log, Level: "info", Message: message, Extra: beside(raw, "message")}
}

// progressEvent fills ev with a job's progress, which may be any JSON. A string is the message, and a number is the
// fraction. An object provides both in the usual members.
func progressEvent(ev *wire.Event, progress []byte) {
	ev.Kind, ev.Message, ev.Final = wire.Progress, "running", false
	switch scan.Type(progress) {
	case 's':
		ev.Message, _ = scan.Text(progress)
	case 'n':
		ev.Fraction = fraction(progress, 1)
	case 'o':
		text := func(key string) string { return scan.String(scan.Get(progress, key)) }
		ev.Message = cmp.Or(text("message"), text("stage"), text("phase"), ev.Message)
		ev.Fraction = fractionIn(progress)
	}
}

// fractionIn returns the fraction in a progress object, or nil.
func fractionIn(progress []byte) json.RawMessage {
	for _, key := range []string{"fraction", "progress", "percent", "percentage"} {
		if f := scan.Get(progress, key); scan.Type(f) == 'n' {
			whole := 1.0
			if strings.HasPrefix(key, "percent") {
				whole = 100
			}
			return fraction(f, whole)
		}
	}
	done := scan.Or(scan.Get(progress, "current"), scan.Get(progress, "done"))
	whole, err := strconv.ParseFloat(string(scan.Get(progress, "total")), 64)
	if scan.Type(done) != 'n' || err != nil || whole <= 0 {
		return nil
	}
	return fraction(done, whole)
}

// fraction returns val divided by whole, from 0 to 1, or nil if val is negative. If whole is 1, a number above 1 is a
// percentage. A number that is already a fraction keeps its digits.
func fraction(val []byte, whole float64) json.RawMessage {
	n, err := strconv.ParseFloat(string(val), 64)
	switch {
	case err != nil || n < 0:
		return nil
	case whole == 1 && n <= 1:
		return val
	case whole == 1:
		whole = 100
	}
	return strconv.AppendFloat(nil, min(n/whole, 1), 'g', 4, 64)
}

// beside returns the members of a message that no field of the event contains, as an object or nil. placed is a further
// member to omit.
func beside(raw []byte, placed string) json.RawMessage {
	var o scan.Object
	o.Members(scan.Compact(nil, raw), "type", "id", "hasValue", "stdout", "final", "seq", "jobId", placed)
	return o.EndOrNil()
}
