package wire

import (
	"encoding/json"
	"strconv"
)

// An EventKind is one of the events of section 3 of the design.
type EventKind uint8

// The kinds of event.
const (
	Data     EventKind = iota
	Progress           // Message, Fraction
	Guidance           // Topic, Action, Fix
	Log                // Level, Message
	Failure            // Err: shown as "error"
	Done               // the end
	Gap                // Missed items: of a session's ring, or of a connection that was lost
	Opened             // never shown: a server's answer that names the Stream that follows
)

var eventNames = [...]string{"data", "progress", "guidance", "log", "error", "done", "gap", "opened"}

// String is the word that users see.
func (k EventKind) String() string { return eventNames[k] }

// MissedUnknown is the number of what a Gap is about where nobody can count it:
// what the far side said while there was no connection. It is shown as null.
const MissedUnknown = -1

// An Event is what a call yields, in one shape for every dialect.
type Event struct {
	Kind        EventKind
	Final       bool            // nothing follows
	Stream      ID              // the stream it belongs to; for dialects' servers, never shown
	ContentType string          // "": none
	Data        json.RawMessage // of Data, and what a Failure carries beside its error
	Message     string
	Fraction    json.RawMessage // 0 to 1, as it came; nil: none
	Topic       string          // the kind of a Guidance
	Action      string
	Fix         []string
	Level       string
	Err         *Error
	Missed      int64           // of a Gap; MissedUnknown: nobody knows
	Seq         json.RawMessage // these four as they came; nil: none
	Time        json.RawMessage
	Job         json.RawMessage
	Source      json.RawMessage
	Extra       json.RawMessage // an object of what has no place above; nil: none
}

// AppendJSON appends the event as --events prints it, one line without its end.
func (e Event) AppendJSON(b []byte) []byte {
	b = append(b, `{"event":"`...)
	b = append(b, e.Kind.String()...)
	b = append(b, '"')
	b = appendText(b, "content_type", e.ContentType)
	b = appendText(b, "kind", e.Topic)
	b = appendText(b, "action", e.Action)
	if len(e.Fix) > 0 {
		fix, _ := json.Marshal(e.Fix)
		b = appendRaw(b, "fix", fix)
	}
	b = appendText(b, "level", e.Level)
	if e.Err != nil {
		b = e.appendError(b)
	}
	if e.Message != "" || e.Kind == Progress || e.Kind == Log {
		b = append(append(b, `,"message":`...), AppendString(nil, e.Message)...)
	}
	b = appendRaw(b, "fraction", e.Fraction)
	if e.Kind == Gap {
		b = e.appendMissed(append(b, `,"missed":`...))
	}
	if e.Kind == Data && e.Data == nil {
		b = append(b, `,"data":null`...)
	}
	b = appendRaw(b, "data", e.Data)
	b = appendRaw(b, "seq", e.Seq)
	b = appendRaw(b, "time", e.Time)
	b = appendRaw(b, "job", e.Job)
	b = appendRaw(b, "source", e.Source)
	b = appendRaw(b, "extra", e.Extra)
	return append(b, '}')
}

func (e Event) appendMissed(b []byte) []byte {
	if e.Missed < 0 {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, e.Missed, 10)
}

func (e Event) appendError(b []byte) []byte {
	b = appendRaw(b, "code", e.Err.Code)
	b = appendText(b, "kind", e.Err.Kind)
	if e.Message == "" {
		b = appendText(b, "message", e.Err.Message)
	}
	if e.Err.Retryable != nil {
		b = strconv.AppendBool(append(b, `,"retryable":`...), *e.Err.Retryable)
	}
	if e.Data == nil {
		b = appendRaw(b, "data", e.Err.Data)
	}
	return b
}

func appendText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return AppendString(b, text)
}

func appendRaw(b []byte, name string, raw json.RawMessage) []byte {
	if raw == nil {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return append(b, raw...)
}
