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

// readLines makes an event of each line as it comes. For a stream all go to
// r.Emit; else the last data or error is the answer, and what tells of progress
// goes there where somebody listens.
func (o *outcome) readLines(stdout io.Reader, r dialect.Request) error {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, maxOutput)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 || r.Notification {
			continue
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
		if err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return errTooLong
	}
	return lines.Err()
}

// event returns the event that a line of JSON stands for: an object whose
// members are all among the known ones, with exactly one that names its kind;
// anything else is data.
func event(line json.RawMessage) wire.Event {
	plain := wire.Event{Kind: wire.Data, Data: line}
	if line[0] != '{' {
		return plain
	}
	var ev wire.Event
	var named []byte
	kinds := 0
	for key, val := range scan.Members(line) {
		switch string(key) {
		case "progress":
			ev.Kind, named = wire.Progress, val
			kinds++
		case "data":
			ev.Kind, named = wire.Data, val
			kinds++
		case "error":
			ev.Kind, named = wire.Failure, val
			kinds++
		case "log":
			ev.Kind, named = wire.Log, val
			kinds++
		case "fraction":
			if scan.Type(val) == 'n' {
				ev.Fraction = val
			}
		case "content_type":
			ev.ContentType, _ = scan.Text(val)
		default:
			return plain
		}
	}
	if kinds != 1 {
		return plain
	}
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
	return ev
}

// asError returns the error that a value stands for: an error object as it
// stands, else a server's error with that text.
func asError(v json.RawMessage) *wire.Error {
	if e := errorObject(v); e != nil {
		return e
	}
	return wire.NewError(wire.CodeServer, words(v))
}

// words returns a string's text, or any other value as JSON.
func words(v json.RawMessage) string {
	if s, ok := scan.Text(v); ok {
		return s
	}
	return string(v)
}
