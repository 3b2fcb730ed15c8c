package hook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// Exit statuses of a command that have a meaning: those of sysexits.h, and 100 for "not mine".
const (
	exUsage       = 64
	exDataErr     = 65
	exUnavailable = 69
	exTempFail    = 75
	exNoPerm      = 77
	exNotMine     = 100
)

// result returns the answer that an outcome means. rpcx-hooks(7) has a table of exit statuses.
func (b *ConnectionHooks) result(ctx context.Context, c *chain, a *Answer, r dialect.Request, o *outcome) (json.RawMessage, error) {
	fail := func(format string, args ...any) (json.RawMessage, error) {
		return nil, b.fail(c, r.Method, format, args...)
	}
	switch {
	case o.start != nil:
		return fail("%v", o.start)
	case o.stopped:
		return nil, b.stopped(ctx, c, r)
	case errors.Is(o.feed, errTooLong), errors.As(o.feed, new(notJSON)):
		return fail("%v", o.feed)
	case o.feed != nil:
		return nil, o.feed // the error of Emit
	case o.signal != "":
		return fail("was killed by %s", o.signal)
	case o.exit != 0:
		return b.refusal(c, a, r, o)
	case r.Notification:
		return nil, nil
	case o.err != nil:
		return nil, o.err
	case a.Kind == Text:
		return scan.AppendQuoted(nil, strings.ToValidUTF8(strings.TrimSuffix(strings.TrimSuffix(string(o.value), "\n"), "\r"), "\uFFFD")), nil
	}
	v, err := value(o.value)
	if err != nil {
		return fail("%v", err)
	}
	return v, nil
}

// refusal returns the error for the peer if the exit status is not 0.
func (b *ConnectionHooks) refusal(c *chain, a *Answer, r dialect.Request, o *outcome) (json.RawMessage, error) {
	if o.err != nil {
		return nil, o.err
	}
	if e := errorObject(o.value); e != nil {
		return nil, e
	}
	last := o.stderr.last()
	if r.Notification { // a notification has no response, and the user has already seen stderr
		last = ""
	}
	switch o.exit {
	case exNotMine:
		return nil, errNotMine
	case exUsage, exDataErr:
		return nil, wire.NewError(wire.CodeInvalidParams, cmp.Or(last, "invalid params"))
	case exUnavailable, exTempFail:
		return nil, wire.TryAgain(cmp.Or(last, "unavailable"))
	case exNoPerm:
		return nil, wire.NewError(wire.CodeRefused, cmp.Or(last, "refused"))
	case 126:
		return nil, b.fail(c, r.Method, "ended with status 126: its command cannot be executed")
	case 127:
		why := "its command was not found"
		if a.hasCRLF() {
			why = "the first line of its script ends with CR LF; scripts need LF"
		}
		return nil, b.fail(c, r.Method, "ended with status 127: %s", why)
	}
	return nil, wire.NewError(wire.CodeServer, cmp.Or(last, fmt.Sprintf("the hook ended with status %d", o.exit))).WithData(struct {
		Status int    `json:"exit_status"`
		Stderr string `json:"stderr"`
	}{o.exit, o.stderr.text()})
}

// notJSON is the error for output that is not a single JSON value.
type notJSON struct{ text string }

func (e notJSON) Error() string {
	return fmt.Sprintf("printed output that is not one JSON value: %q; use text: for a string", e.text)
}

// value returns the only JSON value in out, on one line, or null if there is no output.
func value(out []byte) (json.RawMessage, error) {
	v := scan.Trim(out)
	if len(v) == 0 {
		return json.RawMessage("null"), nil
	}
	if scan.Valid(v, wire.DefaultMaxDepth) != nil {
		return nil, notJSON{cut(string(v), 80)}
	}
	if !utf8.Valid(v) {
		v = bytes.ToValidUTF8(v, []byte("\uFFFD"))
	}
	return scan.Compact(nil, v), nil
}

// errorObject returns the error that out contains, an object with a code and a message, or nil.
func errorObject(out []byte) *wire.Error {
	v, err := value(out)
	if err != nil || v[0] != '{' {
		return nil
	}
	code, message := scan.Get(v, "code"), scan.Get(v, "message")
	text, ok := scan.Text(message)
	if t := scan.Type(code); !ok || t != 'n' && t != 's' {
		return nil
	}
	return &wire.Error{Code: code, Message: text, Data: scan.Get(v, "data"), Raw: v}
}
