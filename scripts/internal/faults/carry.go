//go:build linux

package main

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// parsed returns the parts of a message that dialogues need.
func parsed(text []byte) request {
	var r request
	json.Unmarshal(text, &r) //nolint:errcheck // an invalid message gets no response
	return r
}

// overLines sends one message per line.
func overLines(p *peer, l *link) error {
	wrap := func(text string) []byte { return []byte(text + "\n") }
	endless := func(i int) []byte {
		if i == 0 {
			return []byte(`{"jsonrpc":"2.0","id":1,"result":"`)
		}
		return filler
	}
	say := func(text string, at phase) error {
		return p.send(l, unit{bytes: wrap(text), text: text, phase: at, wrap: wrap, endless: endless})
	}
	in := read(l, func() ([]byte, error) { return l.in.ReadBytes('\n') })
	return converse(p, in, say)
}

// converse sends the handshake and then responds until no more messages arrive.
func converse(p *peer, in <-chan []byte, say func(string, phase) error) error {
	for _, text := range p.dialogue.greeting {
		if err := say(text, p.now(true, false)); err != nil {
			return err
		}
	}
	for text := range in {
		p.record("send", string(text))
		r := parsed(text)
		out, phases := p.answers(r)
		for i, text := range out {
			if err := say(text, phases[i]); err != nil {
				return err
			}
		}
		if r.Method == "ticks" {
			go func() {
				for range 40 { // until shortly after the client has closed
					p.pause(50 * time.Millisecond)
					if say(tick, middle) != nil {
						return
					}
				}
			}()
		}
	}
	return nil
}

var filler = bytes.Repeat([]byte(" "), 8<<10)

// overHTTP answers POSTs with a body or an event stream.
func overHTTP(p *peer, l *link) error {
	type post struct {
		method string
		body   []byte
	}
	in := read(l, func() (post, error) {
		r, err := http.ReadRequest(l.in)
		if err != nil {
			return post{}, err
		}
		body, err := io.ReadAll(r.Body)
		return post{r.Method, body}, err
	})
	for r := range in {
		p.record("send", string(r.body))
		m := parsed(r.body)
		if r.method != http.MethodPost || m.ID == nil || m.Method == "" {
			if err := l.write([]byte("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")); err != nil {
				return err
			}
			continue
		}
		out, phases := p.answers(m)
		if len(out) == 0 {
			return fmt.Errorf("no answer to %s", r.body)
		}
		var err error
		if p.over.events {
			err = p.streams(l, out, phases)
		} else {
			err = p.send(l, unit{bytes: reply(out[0]), text: out[0], phase: phases[0], wrap: reply, endless: endlessReply})
		}
		if err != nil && err != errRejected {
			return err
		}
	}
	return nil
}

func reply(text string) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
}

func endlessReply(i int) []byte {
	if i == 0 {
		return []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
	}
	return chunk(string(filler))
}

func chunk(text string) []byte { return fmt.Appendf(nil, "%x\r\n%s\r\n", len(text), text) }

// streams responds with an event stream, one event per message.
func (p *peer) streams(l *link, out []string, phases []phase) error {
	event := func(text string) []byte { return chunk("data: " + strings.ReplaceAll(text, "\n", "\ndata: ") + "\n\n") }
	const top = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	first := phases[0]
	if first == last {
		first = middle
	}
	err := p.send(l, unit{bytes: []byte(top), phase: first, wrap: func(t string) []byte { return append([]byte(top), event(t)...) }, endless: endlessReply})
	for i, text := range out {
		if err == nil {
			err = p.send(l, unit{bytes: event(text), text: text, phase: phases[i], wrap: event, endless: func(i int) []byte {
				if i == 0 {
					return chunk("data: ")
				}
				return chunk(string(filler))
			}})
		}
	}
	if err == nil {
		err = l.write([]byte("0\r\n\r\n"))
	}
	return err
}

const (
	opContinue, opText, opClose, opPing, opPong = 0, 1, 8, 9, 10
	fin                                         = 0x80
)

// frame returns a server's WebSocket frame (RFC 6455, section 5.2).
func frame(first byte, payload []byte) []byte {
	b := []byte{first}
	switch n := len(payload); {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	return append(b, payload...)
}

// readFrame reads a client's frame.
func readFrame(r io.Reader) (op byte, payload []byte, err error) {
	var h [2]byte
	if _, err = io.ReadFull(r, h[:]); err != nil {
		return 0, nil, err
	}
	n := uint64(h[1] & 0x7f)
	switch n {
	case 126:
		var b [2]byte
		_, err = io.ReadFull(r, b[:])
		n = uint64(binary.BigEndian.Uint16(b[:]))
	case 127:
		var b [8]byte
		_, err = io.ReadFull(r, b[:])
		n = binary.BigEndian.Uint64(b[:])
	}
	var mask [4]byte
	if err == nil && h[1]&0x80 != 0 {
		_, err = io.ReadFull(r, mask[:])
	}
	if err != nil {
		return 0, nil, err
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(r, payload)
	for i := range payload {
		payload[i] ^= mask[i%4]
	}
	return h[0] & 0xf, payload, err
}

// overWS sends one message per text frame after the upgrade.
func overWS(p *peer, l *link) error {
	r, err := http.ReadRequest(l.in)
	for err == nil && p.fault.kind == rejected { // the client may repeat its request on this connection
		if err = p.send(l, unit{phase: head}); err != errRejected {
			break // the client has repeated its request
		}
		r, err = http.ReadRequest(l.in)
	}
	if err != nil {
		return err
	}
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	up := "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
		base64.StdEncoding.EncodeToString(sum[:]) + "\r\n\r\n"
	text := func(s string) []byte { return frame(fin|opText, []byte(s)) }
	ask := func() ([]byte, error) {
		for {
			op, payload, err := readFrame(l.in)
			switch {
			case err != nil:
				return nil, err
			case op == opText:
				return payload, nil
			case op == opPing:
				err = l.write(frame(fin|opPong, payload))
			case op == opClose && !p.fault.staysOpen:
				l.write(frame(fin|opClose, payload))
				return nil, io.EOF
			}
			if err != nil {
				return nil, err
			}
		}
	}
	in := read(l, ask)
	if err := p.send(l, unit{bytes: []byte(up), phase: head, wrap: text, endless: endlessHead}); err != nil {
		return err
	}
	return converse(p, in, func(s string, at phase) error {
		return p.send(l, unit{bytes: text(s), text: s, phase: at, wrap: text, endless: func(i int) []byte {
			if i == 0 {
				return frame(opText, []byte(`{"jsonrpc":"2.0","id":1,"result":"`))
			}
			return frame(opContinue, filler)
		}})
	})
}

// endlessHead returns parts of an HTTP response head that does not end.
func endlessHead(i int) []byte {
	if i == 0 {
		return []byte("HTTP/1.1 101 Switching Protocols\r\n")
	}
	return append(append([]byte("X-Filler: "), filler...), "\r\n"...)
}
