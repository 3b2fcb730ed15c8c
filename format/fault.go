package format

import (
	"encoding/json"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Error shows a failure on one line: text for people, or a JSON object. status
// is the exit status that the command ends with.
func (c *Console) Error(f *wire.Fault, status int) {
	if !c.o.JSON {
		c.text(f)
		return
	}
	line := append(FaultJSON(f, status), '\n')
	if c.o.Terminal {
		line = append(look{escape: true}.append(nil, line), '\n')
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	_, _ = c.w.Write(line)
}

// text shows a failure for people: one line, and on a terminal the trace below
// it.
func (c *Console) text(f *wire.Fault) {
	if !c.o.Terminal || len(f.Trace) == 0 {
		c.line(colorError, "rpcx: ", FaultText(f))
		return
	}
	head := *f
	head.Trace = []string{}
	c.line(colorError, "rpcx: ", FaultText(&head))
	for _, line := range f.Trace {
		c.line("", "", "    "+strings.TrimSpace(line))
	}
}

// FaultText is a failure for people, one line: what went wrong, in which
// method, where in the peer's code, what to do instead, and a command that would
// work.
func FaultText(f *wire.Fault) string {
	text := message(f)
	if f.Method != "" && !strings.Contains(text, f.Method) {
		text = f.Method + ": " + text
	}
	if e := f.RPC; e != nil && e.Data != nil && f.Kind == wire.RPCError && f.Trace == nil {
		text += ": " + excerpt(scan.Compact(nil, e.Data))
	}
	if len(f.Trace) > 0 {
		text += ": " + strings.Join(f.Trace, "; ")
	}
	if f.Hint != "" {
		text += ": " + f.Hint
	}
	if len(f.Fix) > 0 {
		if strings.TrimRight(text, "?!.;") == text {
			text += ";"
		}
		text += " try: " + QuoteAll(f.Fix)
	}
	return CleanLine(text)
}

// message is the message of a failure, with what else is known of it and not
// said in it.
func message(f *wire.Fault) string {
	text := f.Message
	add := func(key, s string) {
		switch {
		case text == "":
			text = s
		case !strings.Contains(text, key):
			text += ": " + s
		}
	}
	if f.RPC != nil {
		add(f.RPC.Message, f.RPC.Error())
	}
	if f.Close != nil {
		add(f.Close.Reason, f.Close.Error())
	}
	if f.Child != nil {
		add(f.Child.String(), f.Child.String())
	}
	if f.HTTP != nil {
		add(strconv.Itoa(f.HTTP.Status), "HTTP "+strconv.Itoa(f.HTTP.Status))
		body := strings.TrimSpace(f.HTTP.Body)
		first, _, _ := strings.Cut(body, "\n")
		add(strings.TrimSpace(first), excerpt([]byte(body)))
	}
	if f.Err != nil && text == "" {
		text = f.Err.Error()
	}
	if text == "" {
		text = string(f.Kind)
	}
	return text
}

// FaultJSON is a failure as --errors json prints it, without the line's end.
// Members stand in this order, each only where it is known.
func FaultJSON(f *wire.Fault, status int) []byte {
	b := strconv.AppendInt([]byte(`{"error":{"status":`), int64(status), 10)
	b = member(b, "kind", string(f.Kind))
	b = member(b, "message", message(f))
	b = member(b, "method", f.Method)
	retryable := f.Retryable
	if retryable == nil && f.RPC != nil {
		retryable = f.RPC.Retryable
	}
	if retryable != nil {
		b = strconv.AppendBool(append(b, `,"retryable":`...), *retryable)
	}
	if f.RPC != nil {
		b = scan.Compact(append(b, `,"rpc":`...), f.RPC.JSON())
	}
	if f.Close != nil && (f.Close.Code != 0 || f.Close.Reason != "") {
		b = value(b, "close", closed{f.Close.Code, f.Close.Reason})
	}
	if f.HTTP != nil {
		b = value(b, "http", f.HTTP)
	}
	if child := f.Child; child != nil {
		b = value(b, "child", child)
	} else if f.Close != nil && f.Close.Child != nil {
		b = value(b, "child", f.Close.Child)
	}
	b = member(b, "hint", f.Hint)
	if len(f.Fix) > 0 {
		b = value(b, "fix", f.Fix)
	}
	return append(b, "}}"...)
}

type closed struct {
	Code   int    `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
}

func member(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return wire.AppendString(b, text)
}

func value(b []byte, name string, v any) []byte {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return append(b, strings.TrimSuffix(text.String(), "\n")...)
}
