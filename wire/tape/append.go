package tape

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Append appends the header as a tape has it, with the line's end.
func (h Header) Append(b []byte) []byte {
	b = append(b, `{"tape":1`...)
	b = appendText(b, "endpoint", h.Endpoint)
	b = appendText(b, "dialect", h.Dialect)
	if !h.Started.IsZero() {
		b = appendText(b, "started", h.Started.UTC().Format(time.RFC3339Nano))
	}
	b = appendText(b, "rpcx", h.Program)
	return append(b, "}\n"...)
}

// Append appends the line as a tape has it, with its end. It allocates nothing
// for a message with nothing beside it. Msg is trusted to be JSON.
func (l *Line) Append(b []byte) []byte {
	if l.Kind == Message || l.Kind == Closing {
		b = appendStart(b, l.Time, l.Conn, l.Dir)
	} else {
		b = appendPlace(b, l.Time, l.Conn)
	}
	if l.Kind == Note {
		b = scan.AppendQuoted(append(b, `,"note":`...), l.Note)
	} else {
		b = appendText(b, "note", l.Note)
	}
	switch l.Kind {
	case Opening:
		b = appendValue(b, "open", l.Open)
	case Closing:
		b = appendValue(b, "close", l.Close)
	case Exchange:
		b = appendValue(b, "http", l.HTTP)
	case Message:
		b = l.appendMessage(b)
	}
	return append(b, "}\n"...)
}

// appendPlace appends the beginning of a line: when, and on which connection.
func appendPlace(b []byte, at time.Duration, conn int) []byte {
	b = appendSeconds(append(b, `{"t":`...), at)
	if conn != 0 {
		b = strconv.AppendInt(append(b, `,"conn":`...), int64(conn), 10)
	}
	return b
}

// appendStart is appendPlace with the direction.
func appendStart(b []byte, at time.Duration, conn int, d wire.Direction) []byte {
	b = appendPlace(b, at, conn)
	if d == wire.Send {
		return append(b, `,"dir":"send"`...)
	}
	return append(b, `,"dir":"recv"`...)
}

func (l *Line) appendMessage(b []byte) []byte {
	b = appendText(b, "name", l.Name)
	b = appendText(b, "re", l.Re)
	b = appendText(b, "match", l.Match)
	for i, bind := range l.Bind {
		b = append(b, [2]string{`,"bind":{`, `,`}[min(i, 1)]...)
		b = scan.AppendQuoted(b, bind.Name)
		b = scan.AppendQuoted(append(b, ':'), bind.Value)
	}
	if len(l.Bind) > 0 {
		b = append(b, '}')
	}
	if l.Vars {
		b = append(b, `,"vars":true`...)
	}
	switch {
	case l.Msg != nil:
		b = appendMsg(append(b, `,"msg":`...), l.Msg)
	case l.Bytes != nil && utf8.Valid(l.Bytes):
		b = scan.AppendQuoted(append(b, `,"text":`...), string(l.Bytes))
	case l.Bytes != nil:
		b = append(b, `,"base64":"`...)
		b = append(base64.StdEncoding.AppendEncode(b, l.Bytes), '"')
	}
	return b
}

// appendMsg appends msg, which must stand on one line.
func appendMsg(b, msg []byte) []byte {
	if bytes.IndexByte(msg, '\n') >= 0 || bytes.IndexByte(msg, '\r') >= 0 {
		return scan.Compact(b, msg)
	}
	return append(b, scan.Trim(msg)...)
}

// appendSeconds appends d as seconds, to the microsecond.
func appendSeconds(b []byte, d time.Duration) []byte {
	micro := max(d.Microseconds(), 0)
	b = strconv.AppendInt(b, micro/1e6, 10)
	if micro %= 1e6; micro == 0 {
		return b
	}
	digits := len(".000000")
	for ; micro%10 == 0; digits-- {
		micro /= 10
	}
	b = append(b, ".000000"[:digits]...)
	for i := len(b) - 1; micro > 0; i-- {
		b[i] = byte('0' + micro%10)
		micro /= 10
	}
	return b
}

func appendText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return scan.AppendQuoted(b, text)
}

// appendValue appends v, a struct of this package, which encoding/json can write.
func appendValue(b []byte, name string, v any) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return append(b, "{}"...)
	}
	return append(b, bytes.TrimSpace(buf.Bytes())...)
}

// SetPayload makes payload, as it crossed the wire, the content of a Message: as
// JSON where it is JSON in UTF-8, else as bytes.
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
