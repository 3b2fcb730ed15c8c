package format

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"rpcx/wire"
)

// hostile has all control characters that terminals obey: C0, DEL, C1 and the bidirectional marks.
func hostile() (text string) {
	for r := rune(1); r < 0xa0; r++ {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f) {
			text += string(r)
		}
	}
	return text + "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
}

func obeyed(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(hostile(), r) {
			return r
		}
		return -1
	}, text)
}

// Text from a peer is printed on stderr without control characters.
func TestNothingIsObeyed(t *testing.T) {
	bad := hostile()
	if got := obeyed(Clean(bad) + CleanLine(bad)); got != "" || Safe(bad) || Safe("a\nb") || !Safe("é ü") {
		t.Errorf("control characters after Clean: %q", got)
	}
	quoted, _ := json.Marshal(bad)
	shown := VisibleJSON(quoted)
	var back string
	if err := json.Unmarshal(shown, &back); err != nil || obeyed(strings.Map(func(r rune) rune {
		if r < ' ' {
			return -1
		}
		return r
	}, back)) != "" {
		t.Errorf("%v: control characters after VisibleJSON: %q", err, obeyed(back))
	}
	if got := string(VisibleJSON([]byte("\"a\u009bb\""))); got != `"a\\u009bb"` {
		t.Errorf("VisibleJSON: %s", got)
	}
	var out bytes.Buffer
	c := NewConsole(&out, ConsoleOptions{Screen: Screen{Terminal: true}})
	c.Warn(bad)
	c.Note(bad)
	c.Child(FromPeer, []byte(bad))
	c.Pass([]byte(bad + "\n"))
	c.Error(&wire.Fault{Kind: wire.RPCError, Method: bad, Message: bad, Hint: bad, Fix: []string{bad}, Trace: []string{bad}, RPC: &wire.Error{Message: bad, Data: quoted}}, 1)
	c.Progress(wire.Event{Message: bad, Fraction: json.RawMessage("1")})
	if got := obeyed(strings.NewReplacer("\r\x1b[K", "").Replace(out.String())); got != "" {
		t.Errorf("the console prints control characters: %q", got)
	}
}

// A message of megabytes is cut in text output, but not with --errors json. Hint and fix are never cut.
func TestLongFailuresAreCut(t *testing.T) {
	long := strings.Repeat("é", 5<<20)
	f := &wire.Fault{Kind: wire.RPCError, Message: long, Hint: "a hint", Fix: []string{"rpcx", "x"}, RPC: &wire.Error{Code: json.RawMessage("1"), Message: long, Data: json.RawMessage(`"` + long + `"`)}}
	var out bytes.Buffer
	NewConsole(&out, ConsoleOptions{}).Error(f, 1)
	if s := out.String(); len(s) > 3*longestMessage || !strings.Contains(s, " bytes)") || !strings.HasSuffix(s, "a hint; try: rpcx x\n") {
		t.Errorf("%d bytes, ending in %.100q", len(s), s[max(0, len(s)-100):])
	}
	NewConsole(&out, ConsoleOptions{}).Warn(long)
	if out.Len() > 3*longestMessage+3*widestLine {
		t.Errorf("%d bytes", out.Len())
	}
	if got := FaultJSON(f, 1); len(got) < len(long) {
		t.Errorf("%d bytes of JSON", len(got))
	}
}
