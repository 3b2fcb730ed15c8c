package wire

import (
	"encoding/json"

	"rpcx/wire/scan"
)

// An EventKind is the kind of an event, as printed by --events (EVENTS in the manual).
type EventKind uint8

// The comments name the fields that each kind uses.
const (
	Data     EventKind = iota
	Progress           // Message, Fraction
	Guidance           // Topic, Action, Fix
	Log                // Level, Message
	Failure            // Err; users see it as "error"
	Done               // the end
	Gap                // Missed: the number of items that a session's ring or a broken connection lost
	Opened             // internal: a server's response that names the stream
)

var eventNames = [...]string{"data", "progress", "guidance", "log", "error", "done", "gap", "opened"}

// String returns the kind's name in the output of --events.
func (k EventKind) String() string { return eventNames[k] }

// MissedUnknown is the value of Missed if the lost events cannot be counted, because the peer sent them while there was
// no connection. The output then has null.
const MissedUnknown = -1

// An Event is one thing that a call yields, in a form that is the same for all dialects. rpcx processes exchange its
// JSON encoding. Users see the output of AppendJSON.
type Event struct {
	Kind        EventKind       `json:"kind"`
	Final       bool            `json:"final,omitempty"`        // the last event
	Result      bool            `json:"-"`                      // the result of a call that printed other events before; --events marks it as final
	Stream      ID              `json:"-"`                      // the stream of the event; only dialect servers use it
	ContentType string          `json:"content_type,omitempty"` // may be ""
	Method      string          `json:"method,omitempty"`       // the method of the notification or item, or ""
	Data        json.RawMessage `json:"data,omitempty"`         // the payload of Data, or the data that a Failure has besides its error
	Message     string          `json:"message,omitempty"`
	Fraction    json.RawMessage `json:"fraction,omitempty"` // from 0 to 1, unchanged, or nil
	Topic       string          `json:"topic,omitempty"`    // the kind of Guidance
	Action      string          `json:"action,omitempty"`
	Fix         []string        `json:"fix,omitempty"`
	Level       string          `json:"level,omitempty"`
	Err         *Error          `json:"error,omitempty"`
	Missed      int64           `json:"missed,omitempty"` // the number of items in a Gap, or MissedUnknown
	Seq         json.RawMessage `json:"seq,omitempty"`    // Seq, Time, Job and Source are the peer's values, or nil
	Time        json.RawMessage `json:"time,omitempty"`
	Job         json.RawMessage `json:"job,omitempty"`
	Source      json.RawMessage `json:"source,omitempty"`
	Extra       json.RawMessage `json:"extra,omitempty"` // an object of all other members, or nil
}

// AppendJSON appends the event as one line of --events, without the line break.
func (e Event) AppendJSON(b []byte) []byte {
	o := scan.AppendObject(b)
	o.Text("event", e.Kind.String())
	o.SomeText("method", e.Method)
	o.SomeText("content_type", e.ContentType)
	o.SomeText("kind", e.Topic)
	o.SomeText("action", e.Action)
	if len(e.Fix) > 0 {
		o.Add("fix", scan.JSON(e.Fix))
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
