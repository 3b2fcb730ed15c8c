package wire

import (
	"encoding/json"

	"rpcx/wire/scan"
)

// An EventKind is one of the events that --events shows (EVENTS in the manual).
type EventKind uint8

// The kinds of event.
const (
	Data     EventKind = iota
	Progress           // Message, Fraction
	Guidance           // Topic, Action, Fix
	Log                // Level, Message
	Failure            // Err: shown as "error"
	Done               // the end
	Gap                // Missed items were lost: in a session's ring, or because the connection was lost
	Opened             // never shown: a server's answer that names the Stream that follows
)

var eventNames = [...]string{"data", "progress", "guidance", "log", "error", "done", "gap", "opened"}

// String returns the word that users see.
func (k EventKind) String() string { return eventNames[k] }

// MissedUnknown is the Missed of a Gap whose events cannot be counted, because they
// were sent while there was no connection. It is shown as null.
const MissedUnknown = -1

// An Event is one piece of an answer as the user sees it, in the same form for every dialect. Its
// JSON encoding is how processes of rpcx pass events to each other; AppendJSON writes the form that
// users see.
type Event struct {
	Kind        EventKind       `json:"kind"`
	Final       bool            `json:"final,omitempty"`        // nothing follows
	Result      bool            `json:"-"`                      // it is the result that was asked for, and other lines are not: --events then shows that it is final
	Stream      ID              `json:"-"`                      // the stream it belongs to; for dialects' servers, never shown
	ContentType string          `json:"content_type,omitempty"` // "" means none
	Method      string          `json:"method,omitempty"`       // of the notification or item that it was, or "", or of no interest
	Data        json.RawMessage `json:"data,omitempty"`         // of Data, and what a Failure has beside its error
	Message     string          `json:"message,omitempty"`
	Fraction    json.RawMessage `json:"fraction,omitempty"` // 0 to 1, unchanged, or nil
	Topic       string          `json:"topic,omitempty"`    // the kind of a Guidance
	Action      string          `json:"action,omitempty"`
	Fix         []string        `json:"fix,omitempty"`
	Level       string          `json:"level,omitempty"`
	Err         *Error          `json:"error,omitempty"`
	Missed      int64           `json:"missed,omitempty"` // of a Gap; may be MissedUnknown
	Seq         json.RawMessage `json:"seq,omitempty"`    // these four are unchanged, or nil
	Time        json.RawMessage `json:"time,omitempty"`
	Job         json.RawMessage `json:"job,omitempty"`
	Source      json.RawMessage `json:"source,omitempty"`
	Extra       json.RawMessage `json:"extra,omitempty"` // an object of all other members, or nil
}

// AppendJSON appends the event as --events prints it, one line without its end.
func (e Event) AppendJSON(b []byte) []byte {
	o := scan.AppendObject(b)
	o.Text("event", e.Kind.String())
	o.SomeText("method", e.Method)
	o.SomeText("content_type", e.ContentType)
	o.SomeText("kind", e.Topic)
	o.SomeText("action", e.Action)
	if len(e.Fix) > 0 {
		fix := scan.JSON(e.Fix)
		o.Add("fix", fix)
	}
	o.SomeText("level", e.Level)
	if e.Err != nil {
		e.addError(&o)
	}
	if e.Message != "" || e.Kind == Progress || e.Kind == Log {
		o.Text("message", e.Message)
	}
	o.Add("fraction", e.Fraction)
	switch {
	case e.Kind != Gap:
	case e.Missed < 0:
		o.Add("missed", []byte("null"))
	default:
		o.Int("missed", e.Missed)
	}
	if e.Kind == Data && e.Data == nil {
		o.Add("data", []byte("null"))
	}
	o.Add("data", e.Data)
	o.Add("seq", e.Seq)
	o.Add("time", e.Time)
	o.Add("job", e.Job)
	o.Add("source", e.Source)
	o.Add("extra", e.Extra)
	if e.Result {
		o.Bool("final", true)
	}
	return o.End()
}

func (e Event) addError(o *scan.Object) {
	o.Add("code", e.Err.Code)
	o.SomeText("kind", e.Err.Kind)
	if e.Message == "" {
		o.SomeText("message", e.Err.Message)
	}
	if e.Err.Retryable != nil {
		o.Bool("retryable", *e.Err.Retryable)
	}
	if e.Data == nil {
		o.Add("data", e.Err.Data)
	}
}
