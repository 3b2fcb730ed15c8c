package recorder

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/tape"
	"rpcx/wire/testkit"
)

// taped returns the texts on a tape, by direction, after use has used a recorded connection.
func taped(t *testing.T, o Options, use func(c *Conn)) (lines []string) {
	t.Helper()
	o.File = filepath.Join(t.TempDir(), "x.tape")
	r, err := Open(o)
	testkit.OK(t, err)
	c := r.Conn(tape.Open{}, false)
	use(c)
	testkit.OK(t, r.Close())
	b, err := os.ReadFile(o.File)
	testkit.OK(t, err)
	for line := range strings.Lines(string(b)) {
		var l struct {
			Dir, Text, Note string
			Msg             json.RawMessage
		}
		testkit.OK(t, json.Unmarshal([]byte(line), &l))
		if text := l.Text + l.Note + string(l.Msg); text != "" {
			lines = append(lines, l.Dir+" "+text)
		}
	}
	return lines
}

// The tape contains no secret, however the bytes are divided.
func TestSecretsInPieces(t *testing.T) {
	const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnHUSHHUSH"
	for in, want := range map[string]string{
		"a token " + jwt + " and more\n":                                      "a token … and more\n",
		"key AKIAHUSHHUSHHUSHHUSH, more":                                      "key …, more",
		"see postgres://ada:HUSHHUSH@db/x\n":                                  "see postgres://…@db/x\n",
		"run --password HUSH12HUSH -v\n":                                      "run --password … -v\n",
		"DB_PASSWORD=HUSH\nX=1":                                               "DB_PASSWORD=…\nX=1",
		"{'api_key': 'HUSH', 'b': 1}\n":                                       "{'api_key': '…', 'b': 1}\n",
		"x -----BEGIN PRIVATE KEY-----\nHU\nSH\n-----END PRIVATE KEY-----\ny": "x …\ny",
		"-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("HUSH\n", 2000):      "…",
		`{"password":"HUSH","n":1}`:                                           `{"password":"…","n":1}`,
	} {
		for size := 1; size <= len(in); size += 1 + size/20 {
			got := ""
			for _, line := range taped(t, Options{}, func(c *Conn) {
				record := c.Pieces(wire.Send)
				for rest := in; rest != ""; rest = rest[min(size, len(rest)):] {
					record([]byte(rest[:min(size, len(rest))]))
				}
				c.Ended(wire.Send, nil)
			}) {
				got += strings.TrimPrefix(line, "send ")
			}
			if got != want {
				t.Errorf("%.40q in pieces of %d: %.200q, want %q", in, size, got, want)
				break
			}
		}
	}
}

// A piece waits for the next one only if it may end inside a secret.
func TestPiecesInOrder(t *testing.T) {
	pieces := func(c *Conn) {
		send, recv := c.Pieces(wire.Send), c.Pieces(wire.Recv)
		send([]byte("key ey"))
		recv([]byte("an answer"))
		send([]byte("{one}"))
		c.Note("a note")
		recv([]byte("the last"))
		c.Ended(wire.Send, nil)
		send([]byte("behind"))
	}
	want := "send key ey|recv an answer|send {one}| a note|recv the last|send behind"
	testkit.Expect(t, "the pieces", strings.Join(taped(t, Options{}, pieces), "|"), want)
	want = " recorded with --no-redact: this tape may contain secrets|" + want
	testkit.Expect(t, "the pieces without redaction", strings.Join(taped(t, Options{Plain: true}, pieces), "|"), want)
}

// A piece is recorded with the time at which it arrived.
func TestPiecesHaveTheirTimes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.tape")
	synctest.Test(t, func(t *testing.T) {
		r, err := Open(Options{File: file})
		testkit.OK(t, err)
		send := r.Conn(tape.Open{}, false).Pieces(wire.Send)
		for _, piece := range []string{"one\n", "two\n"} {
			time.Sleep(time.Second)
			send([]byte(piece))
		}
		testkit.OK(t, r.Close())
	})
	b, err := os.ReadFile(file)
	testkit.OK(t, err)
	for _, want := range []string{`"t":1,`, `"t":2,`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the tape lacks %s:\n%s", want, b)
		}
	}
}
