package hook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// readLines converts each line to an event. For a stream, r.Emit receives all events. Otherwise the last data or error
// is the answer, and r.Emit, if set, receives progress and log events.
func (o *outcome) readLines(stdout io.Reader, r dialect.Request) error {
	return eachLine(stdout, func(line []byte) error {
		if r.Notification {
			return nil
		}
		v, err := value(line)
		if err != nil {
			return err
		}
		ev := event(v)
		switch {
		case r.Stream:
			err = r.Emit(ev)
		case ev.Kind == wire.Data:
			o.value, o.err = ev.Data, nil
		case ev.Kind == wire.Failure:
			o.value, o.err = nil, ev.Err
		case r.Emit != nil:
			err = r.Emit(ev)
		}
		return err
	})
}

// eachLine calls do with each line of r that is not blank, until do fails.
func eachLine(r io.Reader, do func(line []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxOutput)
	for lines.Scan() {
		if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
			if err := do(line); err != nil {
				return err
			}
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return errTooLong
	}
	return lines.Err()
}

// event returns the event that a line of JSON represents. An event is an object with only known members, one of which
// determines its kind. An error can also be marked as recoverable. Any other JSON is data.
func event(line json.RawMessage) wire.Event {
	plain := wire.Event{Kind: wire.Data, Data: line}
	if line[0] != '{' {
		return plain
	}
	var ev wire.Event
	var named []byte
	kinds, marked, continues := 0, false, false
	for key, val := range scan.Members(line) {
		if kind, ok := kindOf[string(key)]; ok {
			ev.Kind, named = kind, val
			kinds++
			continue
		}
		switch string(key) {
		case "fraction":
			if scan.Type(val) == 'n' {
				ev.Fraction = val
			}
		case "content_type":
			ev.ContentType, _ = scan.Text(val)
		case "recoverable":
			if t := scan.Type(val); t != 't' && t != 'f' {
				return plain
			}
			continues, marked = string(val) == "true", true
		default:
			return plain
		}
	}
	if kinds != 1 || marked && ev.Kind != wire.Failure {
		return plain
	}
	fill(&ev, named)
	if continues { // for dialects that can express this
		ev.Extra = scan.Pair("recoverable", []byte("true"))
		ev.Err.Raw = scan.Splice(ev.Err.JSON(), "recoverable", []byte("true"))
	}
	return ev
}

// kindOf contains the kinds of events by the members that determine them.
var kindOf = map[string]wire.EventKind{"progress": wire.Progress, "data": wire.Data, "error": wire.Failure, "log": wire.Log}

// fill sets the fields of ev from the member that determines its kind.
func fill(ev *wire.Event, named json.RawMessage) {
	switch ev.Kind {
	case wire.Data:
		ev.Data = named
	case wire.Failure:
		ev.Err = asError(named)
	case wire.Log:
		ev.Level, ev.Message = "info", words(named)
		if scan.Type(named) == 'o' {
			if text, ok := scan.Text(scan.Get(named, "message")); ok {
				ev.Message = text
			}
			if level, ok := scan.Text(scan.Get(named, "level")); ok {
				ev.Level = level
			}
		}
	case wire.Progress:
		ev.Message = words(named)
		if f, err := strconv.ParseFloat(string(named), 64); err == nil && 0 <= f && f <= 1 && ev.Fraction == nil {
			ev.Message, ev.Fraction = "", named
		}
	}
}

// asError returns the error that a value represents. An error object stays unchanged. Other objects with a message
// become server errors with that message and their data. Any other value becomes the message itself.
func asError(v json.RawMessage) *wire.Error {
	if e := errorObject(v); e != nil {
		return e
	}
	e := wire.NewError(wire.CodeServer, words(v))
	if scan.Type(v) != 'o' {
		return e
	}
	if text, ok := scan.Text(scan.Get(v, "message")); ok {
		e.Message, e.Data, e.Raw = text, scan.Get(v, "data"), scan.Splice(v, "code", e.Code)
	}
	return e
}

// words returns the content of a string, or any other value as JSON.
func words(v json.RawMessage) string {
	if s, ok := scan.Text(v); ok {
		return s
	}
	return string(v)
}
