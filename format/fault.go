package format

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Error prints a failure as a line of text or as a JSON object. status is the exit status of the command.
func (c *Console) Error(f *wire.Fault, status int) {
	if !c.o.JSON {
		c.text(f)
	} else {
		c.object(FaultJSON(f, status))
	}
}

// text prints a failure as a line of text. On a terminal, the stack trace follows on separate lines.
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

// FaultText returns a failure on one line: what failed, in which method, where in the peer's code, what to do, and a
// command that works.
func FaultText(f *wire.Fault) string {
	text := shortened(message(f))
	if f.Method != "" && !strings.Contains(text, f.Method) {
		text = f.Method + ": " + text
	}
	if e := f.RPC; e != nil && e.Data != nil && f.Kind == wire.RPCError && f.Trace == nil {
		text += ": " + excerpt(scan.Compact(nil, e.Data))
	}
	if len(f.Trace) > 0 {
		text += ": " + shortened(strings.Join(f.Trace, "; "))
	}
	if f.Hint != "" {
		text += ": " + shortened(f.Hint)
	}
	return CleanLine(withFix(text, f.Fix))
}

// longestMessage is the maximum length, in bytes, of each part of a failure's text.
const longestMessage = 4000

// shortened returns text. If text is too long, it returns the start and the number of bytes.
func shortened(text string) string {
	if len(text) <= longestMessage {
		return text
	}
	return strings.ToValidUTF8(text[:longestMessage], "") + "… (" + strconv.Itoa(len(text)) + " bytes)"
}

// withFix adds fix, a command that works, to text. The command is quoted for sh.
func withFix(text string, fix []string) string {
	if len(fix) == 0 {
		return text
	}
	if text != "" && strings.TrimRight(text, "?!.;") == text {
		text += ";"
	}
	return strings.TrimSpace(text + " try: " + QuoteAll(fix))
}

// message returns the message of a failure, and adds the facts that it does not contain.
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
		add(beginning(body), excerpt([]byte(body)))
	}
	if f.Err != nil && text == "" {
		text = f.Err.Error()
	}
	return cmp.Or(text, string(f.Kind))
}

// beginning returns the start of a body. A message that contains it already quotes the body.
func beginning(body string) string {
	const most = 100
	for i, r := range body {
		if i >= most || r < ' ' || r == 0x7f || r == utf8.RuneError {
			return strings.TrimSpace(body[:i])
		}
	}
	return body
}

// FaultJSON returns a failure as the JSON object that --errors json prints, without a line break. It omits members
// whose values are unknown.
func FaultJSON(f *wire.Fault, status int) []byte {
	var o scan.Object
	o.Int("status", int64(status))
	o.SomeText("kind", string(f.Kind))
	o.SomeText("message", message(f))
	o.SomeText("method", f.Method)
	retryable := f.Retryable
	if retryable == nil && f.RPC != nil {
		retryable = f.RPC.Retryable
	}
	if retryable != nil {
		o.Bool("retryable", *retryable)
	}
	if f.RPC != nil {
		o.Compact("rpc", f.RPC.JSON())
	}
	if f.Close != nil && (f.Close.Code != 0 || f.Close.Reason != "") {
		o.Value("close", closed{f.Close.Code, f.Close.Reason})
	}
	if f.HTTP != nil {
		o.Value("http", f.HTTP)
	}
	child := f.Child
	if child == nil && f.Close != nil {
		child = f.Close.Child
	}
	if child != nil {
		o.Value("child", child)
	}
	o.SomeText("hint", f.Hint)
	if len(f.Fix) > 0 {
		o.Value("fix", f.Fix)
	}
	return scan.Pair("error", o.End())
}

type closed struct {
	Code   int    `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
}
