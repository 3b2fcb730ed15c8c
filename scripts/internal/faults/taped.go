//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// secretWord begins each secret in a message.
const secretWord = "s3cr3t"

// A line is a line on a tape or in the file to which a peer writes its messages.
type line struct {
	Tape  int             `json:"tape"`
	T     float64         `json:"t"`
	Conn  int             `json:"conn"`
	Dir   string          `json:"dir"`
	Msg   json.RawMessage `json:"msg"`
	Text  *string         `json:"text"`
	Bytes *string         `json:"base64"`
	Open  json.RawMessage `json:"open"`
	Close json.RawMessage `json:"close"`
	HTTP  *struct {
		Status int    `json:"status"`
		Error  string `json:"error"`
	} `json:"http"`
	Note string `json:"note"`
}

// message returns the direction and the message of a line, with secrets replaced, so that the tape and the peer's file can be compared.
func (l line) message() string {
	var b bytes.Buffer
	if json.Compact(&b, l.Msg) != nil {
		return ""
	}
	return l.Dir + " " + string(numbered.ReplaceAll(bytes.ReplaceAll(b.Bytes(), []byte(secretWord), []byte("…")), []byte("…")))
}

// numbered matches the placeholder for a secret on a tape.
var numbered = regexp.MustCompile(`…\d*`)

// lines parses JSON lines. An incomplete line is an error.
func lines(text []byte) (all []line, err error) {
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		return nil, fmt.Errorf("it ends within a line")
	}
	for text := range bytes.Lines(text) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, fmt.Errorf("%q: %v", text, err)
		}
		all = append(all, l)
	}
	return all, nil
}

// taped compares the tape of a cell's command with the messages that its peer received and sent before the fault.
func (v *verdict) taped(r room) {
	file := filepath.Join(r.dir, "work", tapeFile)
	if !v.cell.run.tapes || v.cell.fault.kind == terminated { // the signal may arrive after a message but before its line is on the tape
		return
	}
	if info, err := os.Stat(file); err == nil && info.Size() > mostTape {
		return // the tape of a flood is too large to be checked
	}
	text, err := os.ReadFile(file)
	var tape []line
	if err == nil {
		tape, err = lines(text)
	}
	if err != nil {
		v.wrong("the tape: %v", err)
		return
	}
	if bytes.Contains(text, []byte(secretWord)) {
		v.wrong("a secret is on the tape: %q", text)
	}
	if len(tape) == 0 || tape[0].Tape != 1 {
		v.wrong("the tape begins with %q", text[:min(len(text), 80)])
		return
	}
	v.inOrder(tape[1:], text)
	heard, err := os.ReadFile(filepath.Join(r.dir, saidFile))
	if err != nil && !os.IsNotExist(err) {
		v.wrong("the messages of the peer: %v", err)
	}
	// The peer may still be writing responses to a flood.
	said, err := lines(heard[:bytes.LastIndexByte(heard, '\n')+1])
	if err != nil {
		v.wrong("the messages of the peer: %v", err)
	}
	if missing := v.missing(tape[1:], said); missing != "" {
		v.wrong("the tape lacks %s, which was forwarded: %q", missing, text)
	}
}

// inOrder checks that the times on a tape never decrease, that each opened connection is closed, and that the tape shows the fault.
func (v *verdict) inOrder(tape []line, text []byte) {
	open := map[int]int{}
	at, ended := 0.0, false
	for _, l := range tape {
		if l.T < at {
			v.wrong("the tape goes back in time, to %v from %v", l.T, at)
		}
		at = l.T
		open[l.Conn] += l.opens()
		ended = ended || l.tellsOfAnEnd()
	}
	for conn, n := range open {
		if n != 0 && !v.cell.over.http { // over HTTP, all POSTs belong to one connection, which stays open
			v.wrong("on the tape, connection %d was opened %+d times more often than closed", conn, n)
		}
	}
	fault := v.cell.fault.kind
	waits := v.cell.over.http && fault != lost && fault != rejected || fault == unexpected // the command may end before the fault
	if v.occurred != never && fault != harmless && !ended && !waits {
		v.wrong("the tape does not show the fault: %q", text)
	}
}

// opens returns 1 for an open line, -1 for a close line, and 0 for others.
func (l line) opens() int {
	switch {
	case l.Open != nil:
		return 1
	case l.Close != nil:
		return -1
	}
	return 0
}

func (l line) tellsOfAnEnd() bool {
	return l.Close != nil || l.Text != nil || l.Bytes != nil || l.Note != "" || l.HTTP != nil && (l.HTTP.Error != "" || l.HTTP.Status >= 300)
}

// missing returns the first message in said that is not on the tape, or "". If the messages of a conversation depend on each other,
// the tape must have them in the same order.
func (v *verdict) missing(tape, said []line) string {
	if n := len(said); n > 0 && said[n-1].Dir == "recv" && (v.cell.fault.kind != harmless || v.cell.fault.breaks(v.cell.over)) {
		said = said[:n-1] // the message may be lost with the connection
	}
	ordered := v.cell.run.name != "batch" && !v.cell.run.own && !v.cell.fault.asks()
	for _, s := range said {
		if len(s.Msg) > mostMessage && texts(tape, s.Dir, s.Msg) {
			continue
		}
		found := -1
		for i, l := range tape {
			if l.Msg != nil && l.message() == s.message() {
				found = i
				break
			}
		}
		if found < 0 {
			return strings.TrimSpace(s.message())
		}
		if ordered {
			tape = tape[found+1:]
		} else {
			tape[found].Msg = nil
		}
	}
	return ""
}

// texts reports whether a tape has all of msg in lines of text, as for a message that is too large for the recorder.
func texts(tape []line, dir string, msg []byte) bool {
	var all strings.Builder
	for _, l := range tape {
		if l.Dir == dir && l.Text != nil {
			all.WriteString(*l.Text)
		}
	}
	return strings.Contains(all.String(), string(msg))
}

const (
	tapeFile = "record.tape"
	saidFile = "said"  // file in a room with the messages that passed
	mostTape = 8 << 20 // limit in bytes, because the system counts this memory for commands, too
)

// record writes a message that has passed to the peer's file, if the cell's command writes a tape.
func (p *peer) record(dir, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.recordTo == "" || text == "" || p.occurred != never && (p.fault.kind != harmless || p.fault.breaks(p.over)) {
		return
	}
	f, err := os.OpenFile(p.recordTo, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	json.NewEncoder(f).Encode(line{Dir: dir, Msg: json.RawMessage(text)}) //nolint:errcheck // before the fault, every message is valid JSON
}
