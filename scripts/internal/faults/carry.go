//go:build linux

package main

import (
	"bytes"
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
