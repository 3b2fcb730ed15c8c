package wire

import (
	"encoding/json"

	"rpcx/wire/scan"
)

// An EventKind is the kind of an event that --events shows (EVENTS in the manual).
type EventKind uint8

// These are the kinds of events.
const (
	Data     EventKind = iota
	Progress           // Message, Fraction
	Guidance           // Topic, Action, Fix
	Log                // Level, Message
	Failure            // Err: shown as "error"
	Done               // the end
	Gap                // Missed items were lost, in a session's ring or because the connection was lost
	Opened             // never shown: a server's answer that names the Stream that follows
)

var eventNames = [...]string{"data", "progress", "guidance", "log", "error", "done", "gap", "opened"}

// String returns the word that users see.
func (k EventKind) String() string { return eventNames[k] }

// MissedUnknown is the Missed of a Gap if the events cannot be counted, because they were sent while there was no
// connection. It is shown as null.
const MissedUnknown = -1

// An Event is one piece of an answer in the form that users see, which is the same for every dialect. Processes of rpcx
// use its JSON encoding to pass events to each other. AppendJSON writes the form that users see.
type Event struct {
	Kind        EventKind       `json:"kind"`
	Final       bool            `json:"final,omitempty"`        // nothing follows
	Result      bool            `json:"-"`                      // it is the requested result, among other lines: --events then marks it as final
	Stream      ID              `json:"-"`                      // the stream to which it belongs; for servers of dialects, never shown
	ContentType string          `json:"content_type,omitempty"` // "" for none
	Method      string          `json:"method,omitempty"`       // the method of the notification or item, or "" if there is none or it does not matter
	Data        json.RawMessage `json:"data,omitempty"`         // the payload of Data, or what a Failure has beside its error
	Message     string          `json:"message,omitempty"`
	Fraction    json.RawMessage `json:"fraction,omitempty"` // 0 to 1, unchanged, or nil
	Topic       string          `json:"topic,omitempty"`    // the kind of a Guidance
	Action      string          `json:"action,omitempty"`
	Fix         []string        `json:"fix,omitempty"`
	Level       string          `json:"level,omitempty"`
	Err         *Error          `json:"error,omitempty"`
	Missed      int64           `json:"missed,omitempty"` // the number for a Gap; may be MissedUnknown
	Seq         json.RawMessage `json:"seq,omitempty"`    // these four are unchanged, or nil
	Time        json.RawMessage `json:"time,omitempty"`
	Job         json.RawMessage `json:"job,omitempty"`
	Source      json.RawMessage `json:"source,omitempty"`
	Extra       json.RawMessage `json:"extra,omitempty"` // an object of all other members, or nil
}

// AppendJSON appends the event as --events prints it: one line, without the line break.
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
