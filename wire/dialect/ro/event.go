package ro

import (
	"encoding/json"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Event is what a user sees of m. A result that is not the last is progress
// that carries it as data; a last one is data, or the failure that its status
// says.
func (c *codec) Event(m wire.Message) (wire.Event, error) {
	later := m.Kind == wire.Item && m.Params == nil && m.Err == nil && m.Body != nil
	switch s := status(m.Body); {
	case m.Kind == wire.Response && m.Err == nil && !m.Final && (s == "accepted" || s == "pending"):
	case !later:
		return c.Codec.Event(m)
	case s == "error":
		return wire.Event{Kind: wire.Failure, Final: true, Err: said(m.Body)}, nil
	case m.Method == "" && s != "accepted" && s != "pending", strings.HasSuffix(m.Method, "."+verbReturn):
		return wire.Event{Kind: wire.Data, Final: m.Final, Data: m.Body}, nil
	}
	return progress(m.Body), nil
}

// progress is a result that is not the last.
func progress(body []byte) wire.Event {
	ev := wire.Event{Kind: wire.Progress, Data: body}
	if scan.Type(body) != 'o' {
		return ev
	}
	for key, val := range each(body) {
		switch key {
		case "progress", "percent", "percentage":
			ev.Fraction = fraction(val)
		case "message", "stage", "content":
			if text, ok := scan.Text(val); ok && ev.Message == "" {
				ev.Message = text
			}
		}
	}
	if ev.Message == "" {
		ev.Message = status(body)
	}
	return ev
}

// fraction is progress from 0 to 1; what is more than 1 is a percentage, as on
// the page.
func fraction(val []byte) json.RawMessage {
	f, err := strconv.ParseFloat(string(val), 64)
	switch {
	case err != nil || f < 0 || f > 100:
		return nil
	case f <= 1:
		return val
	}
	return strconv.AppendFloat(nil, f/100, 'f', -1, 64)
}

// said is the failure that a result with the status error says.
func said(body []byte) *wire.Error {
	e := &wire.Error{Message: "failed", Data: body}
	for _, member := range []string{"message", "reason", "error"} {
		val := scan.Get(body, member)
		if text, ok := scan.Text(val); ok && text != "" {
			e.Message = text
			break
		}
		if scan.Type(val) != 'o' {
			continue
		}
		if text, ok := scan.Text(scan.Get(val, "message")); ok {
			e.Message = text
		}
		if code := scan.Get(val, "code"); scan.Type(code) == 'n' || scan.Type(code) == 's' {
			e.Code = code
		}
	}
	if code := scan.Get(body, "code"); e.Code == nil && scan.Type(code) == 'n' {
		e.Code = code
	}
	return e
}
