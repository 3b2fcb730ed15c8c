package tape

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"time"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Append appends the header as a line of the tape, including the line break.
func (h Header) Append(b []byte) []byte {
	o := scan.AppendObject(b)
	o.Int("tape", 1)
	o.SomeText("endpoint", h.Endpoint)
	o.SomeText("dialect", h.Dialect)
	if !h.Started.IsZero() {
		o.Text("started", h.Started.UTC().Format(time.RFC3339Nano))
	}
	o.SomeText("rpcx", h.Program)
	return append(o.End(), '\n')
}

// Append appends l as a line of a tape, including the line break. It does not allocate if the line is a message without
// handwritten members. Msg must be valid JSON.
func (l *Line) Append(b []byte) []byte {
	o := scan.AppendObject(b)
	var seconds [24]byte
	o.Add("t", appendSeconds(seconds[:0], l.Time))
	if l.Conn != 0 {
		o.Int("conn", int64(l.Conn))
	}
	if l.Kind == Message || l.Kind == Closing {
		o.Text("dir", l.Dir.String())
	}
	if l.Kind == Note {
		o.Text("note", l.Note)
	} else {
		o.SomeText("note", l.Note)
	}
	switch l.Kind {
	case Opening:
		o.Add("open", scan.JSON(l.Open))
	case Closing:
		o.Add("close", scan.JSON(l.Close))
	case Exchange:
		o.Add("http", scan.JSON(l.HTTP))
	case Message:
		l.addMessage(&o)
	}
	return append(o.End(), '\n')
}

func (l *Line) addMessage(o *scan.Object) {
	o.SomeText("name", l.Name)
	o.SomeText("re", l.Re)
	o.SomeText("match", l.Match)
	var bind scan.Object
	for _, b := range l.Bind {
		bind.Text(b.Name, b.Value)
	}
	o.Add("bind", bind.EndOrNil())
	if l.Vars {
		o.Bool("vars", true)
	}
	if l.Optional {
		o.Bool("optional", true)
	}
	if l.Binary {
		o.Bool("binary", true)
	}
	switch {
	case l.Msg != nil && (bytes.IndexByte(l.Msg, '\n') >= 0 || bytes.IndexByte(l.Msg, '\r') >= 0):
		o.Compact("msg", l.Msg)
	case l.Msg != nil:
		o.Add("msg", scan.Trim(l.Msg))
	case l.Bytes != nil && utf8.Valid(l.Bytes):
		o.Text("text", string(l.Bytes))
	case l.Bytes != nil:
		o.Text("base64", base64.StdEncoding.EncodeToString(l.Bytes))
	}
}

// appendSeconds appends d in seconds, with up to six decimals.
func appendSeconds(b []byte, d time.Duration) []byte {
	return strconv.AppendFloat(b, float64(max(d.Microseconds(), 0))/1e6, 'f', -1, 64)
}

// SetPayload sets Msg if payload is valid JSON in UTF-8. Otherwise it sets Bytes.
func (l *Line) SetPayload(payload []byte) {
	l.Msg, l.Bytes = nil, nil
	if scan.Valid(payload, wire.DefaultMaxDepth) == nil && utf8.Valid(payload) {
		l.Msg = payload
	} else {
		l.Bytes = payload
	}
	if l.Payload() == nil {
		l.Bytes = []byte{}
	}
}

// RecordBinary is like Record, but records a single binary WebSocket message.
func (t *Writer) RecordBinary(at time.Duration, conn int, d wire.Direction, msg []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return
	}
	t.at = max(at, t.at)
	t.scratch = append(t.scratch[:0], msg...)
	if t.o.Redact != nil && utf8.Valid(msg) {
		t.scratch, _ = t.o.Redact(t.scratch[:0], msg)
	}
	t.buf = t.appendOther(t.buf, Line{Time: t.at, Conn: conn, Dir: d, Binary: true})
	t.added(t.at)
}
